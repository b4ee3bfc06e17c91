/* SPDX-License-Identifier: MIT */
/* Handlers of signals that other libraries have installed. OCaml 5 runs OCaml code on stacks that it allocates, which may be smaller
   than the frame of a handler. So a handler has to run on the thread's stack for handlers, its *signal stack*, which it does if it
   has the flag SA_ONSTACK. OCaml's handlers and those of Rust's standard library have it, most others do not. (threads.c and start.c
   see to it that threads have signal stacks.) */
#define CAML_NAME_SPACE
#include <signal.h>

#include <caml/version.h>

#include "obx.h"

#ifdef SIGRTMAX
#define LAST_SIGNAL SIGRTMAX
#else
#define LAST_SIGNAL (NSIG - 1)
#endif

#if OCAML_VERSION >= 50000
void obx_use_signal_stacks(void) {
  for (int number = 1; number <= LAST_SIGNAL; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0)
      continue; /* one that the C library keeps for itself */
    /* sa_sigaction, which handlers with SA_SIGINFO use, is at the same place. */
    int has_handler = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    if (!has_handler || (action.sa_flags & SA_ONSTACK) != 0) continue;
    action.sa_flags |= SA_ONSTACK;
    (void)sigaction(number, &action, NULL);
  }
}
#else
void obx_use_signal_stacks(void) {}
#endif
