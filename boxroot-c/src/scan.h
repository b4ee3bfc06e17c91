/* SPDX-License-Identifier: MIT */
/* What the runtime's root-scanning hook does with one domain's pools. */
#ifndef BXR_SCAN_H
#define BXR_SCAN_H

#include "domain.h"
#include "runtime.h"

#pragma GCC visibility push(hidden)

enum bxr_scan_kind {
  BXR_SCAN_MINOR,  /* only values in the minor heap matter; may update slots */
  BXR_SCAN_DARKEN, /* the roots of a major cycle; the minor heap is empty */
  BXR_SCAN_OTHER   /* verification, compaction: every block; may update slots */
};

/* Scans the pools of the domain whose record is *record (NULL: it has none). A minor scan
   also adopts orphans, frees what was deleted remotely, and promotes. Called by the
   runtime's thread for the domain, with the runtime's state of the domain. */
void bxr_scan(enum bxr_scan_kind kind, struct bxr_domain **record, void *runtime_state,
              struct bxr_action action);

#pragma GCC visibility pop

#endif
