/* SPDX-License-Identifier: MIT */
/* Collections: the steps of the fake collector in the order of OCaml's, with other code in between. */
#ifndef WORLD_H
#define WORLD_H

#include "shadow.h"

extern struct world {
  bool stopped;
  unsigned may_run; /* while stopped: domains that run finalisers and hooks */
  bool may_create;  /* these may create roots */
  unsigned todo;    /* domains to be scanned */
  unsigned order, choice;
  enum fake_action action;
  int inside; /* the domain among whose root scan's actions code runs, or -1 */
} world;

void world_reset(void);

/* A minor collection; `order` is that of the domains. */
void world_minor(unsigned order);

/* Finishes the major cycle, if one runs, and starts the next one, or, as from OCaml 5.5, one of the
   two. Bits of `choice`: heap verification, compaction, order of marking. */
void world_cycle(unsigned order, unsigned choice);

/* Inside a collection: another domain scans its roots at the same time. */
void world_scan_next(void);

#endif
