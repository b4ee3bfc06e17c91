/* SPDX-License-Identifier: MIT */
/* Why a function failed. */
#ifndef BXR_ERRORS_H
#define BXR_ERRORS_H

#pragma GCC visibility push(hidden)

enum bxr_error {
  BXR_NO_ERROR,
  BXR_OUT_OF_MEMORY,
  BXR_NO_LOCK,
  BXR_NOT_SETUP,
  BXR_TORE_DOWN,
  BXR_INVALID,
  BXR_SECOND_COPY,
  BXR_OTHER_OCAML,
  BXR_SCANNING
};

/* Sets errno and the message of boxroot_error_string. (In setup.c.) */
void bxr_setup_fail(enum bxr_error error);

#pragma GCC visibility pop

#endif
