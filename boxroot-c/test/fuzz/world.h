/* SPDX-License-Identifier: MIT */
/* Collections: the steps of the fake collector in OCaml's order, with other code in between. */
#ifndef WORLD_H
#define WORLD_H

#include "shadow.h"

extern struct world {
  bool stopped;
  unsigned may_run; /* while stopped: domains that run finalisers and hooks */
  bool may_create;  /* while stopped: whether these domains may create roots */
  unsigned todo;    /* domains to be scanned */
  unsigned order, choice;
  enum fake_action action;
  int inside; /* the domain whose root scan is interrupted by other code now, or -1 */
} world;

void world_reset(void);

/* A minor collection. `order`: the domain whose roots are scanned first. */
void world_minor(unsigned order);

/* Finishes the major cycle, if one runs, and starts the next one; or, as from OCaml 5.5 on, does
   one of the two. Bits of `choice`: heap verification, compaction, order of marking. */
void world_cycle(unsigned order, unsigned choice);

/* Inside a collection: the next domain scans its roots while another one is still scanning. */
void world_scan_next(void);

#endif
