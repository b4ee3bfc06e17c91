/* SPDX-License-Identifier: MIT */
/* The life cycle of the library, and its errors. */
#ifndef BXR_SETUP_H
#define BXR_SETUP_H

#include "domain.h"

enum bxr_error {
  BXR_NO_ERROR,
  BXR_OUT_OF_MEMORY,
  BXR_NO_LOCK,
  BXR_NOT_SETUP,
  BXR_TORE_DOWN,
  BXR_INVALID,
  BXR_SCANNING
};

/* Sets errno and the message of boxroot_error_string. */
void bxr_fail(enum bxr_error error);

/* For create and modify: sets the library up if that is needed and possible, and
   returns the record of this thread's domain, open to the thread. NULL after bxr_fail. */
struct bxr_domain *bxr_enter(void);

/* For the others: the record of this thread's domain, open to the thread; NULL if there
   is none, if this thread does not hold the lock, or in a scan. No error is set. */
struct bxr_domain *bxr_enter_if_possible(void);

/* From RUNNING to INVALID: shuts all domains. Roots stay roots. */
void bxr_invalidate(void);

#endif
