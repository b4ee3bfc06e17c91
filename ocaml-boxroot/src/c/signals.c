/* SPDX-License-Identifier: MIT */
/* Signal handlers, and the stacks that they run on. OCaml 5 runs OCaml code on stacks that it allocates, which may be smaller
   than the frame of a handler. So a handler has to run on the thread's stack for handlers, its *signal stack*, which it does if it
   has the flag SA_ONSTACK. OCaml's handlers and those of Rust's standard library have it, most others do not. (threads.c and start.c
   see to it that threads have signal stacks.) */
#define CAML_NAME_SPACE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <caml/version.h>

#include "obx.h"

#if OCAML_VERSION >= 50000
/* So that one handler does not interrupt another one: a signal stack has room for one, or two. Signals of errors in the handler
   itself are not blocked; their handlers may say what has happened. */
static void block_others(sigset_t *mask) {
  static int const errors[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
  sigfillset(mask);
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) sigdelset(mask, errors[i]);
}
#endif

int obx_use_signal_stack(int number) {
#if OCAML_VERSION >= 50000
  struct sigaction action;
  if (sigaction(number, NULL, &action) != 0) return errno;
  /* sa_sigaction, which handlers with SA_SIGINFO use, is at the same place. */
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) return ENOENT;
  action.sa_flags |= SA_ONSTACK;
  block_others(&action.sa_mask);
  return sigaction(number, &action, NULL) == 0 ? 0 : errno;
#else
  (void)number;
  return 0;
#endif
}

int obx_make_signal_stack(void) {
#if OCAML_VERSION >= 50000
  stack_t stack = {.ss_size = 1 << 16};
#ifdef _SC_SIGSTKSZ /* on some processors a handler's frame is large */
  long least = sysconf(_SC_SIGSTKSZ);
  if (least > 1 << 16) stack.ss_size = (size_t)least;
#endif
  stack.ss_sp = malloc(stack.ss_size);
  if (stack.ss_sp != NULL && sigaltstack(&stack, NULL) == 0) return 1;
  free(stack.ss_sp);
#endif
  return 0;
}
