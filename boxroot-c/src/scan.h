/* SPDX-License-Identifier: MIT */
/* Root scans: how the runtime's hook treats one domain's pools.

   Major marking without a pause (OCaml 5): at the start of a major cycle a domain's pools are
   handed over to the collector's own marker, which visits them in its slices. The word before the
   slots of each pool is made to look like the header of an unmarked block; a *directory*, one such
   block per domain, has the pools as its fields; and the directory is darkened like any root. The
   marker only looks at the header and the fields, so it never learns that the memory is not
   OCaml's; the sweeper never sees it. barrier.h describes the consequences for deletes and memory.

   A directory is used, instead of one entry of the mark stack for each pool, because the runtime
   overruns a mark stack whose entries are nearly all large: it does not grow it. Verification and
   compaction use actions other than darkening, and get single slots. Marking also gets single slots
   if there are few pools (BXR_HAND_OVER_FROM), if there is no memory for the directory, or if we do
   not know the runtime: its headers are not as expected (bxr_runtime_marks_ranges), or the
   directory is not marked after it was darkened. */
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

/* Scans the pools of the domain whose record is *record (NULL: it has none) and whose Caml_state is
   runtime_state. A minor scan also adopts orphans, frees slots that were deleted remotely, and
   promotes. Called on the thread that the runtime uses to scan the domain's roots. */
void bxr_scan(enum bxr_scan_kind kind, struct bxr_domain **record, void *runtime_state,
              struct bxr_action action);

#pragma GCC visibility pop

#endif
