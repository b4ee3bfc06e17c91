/* SPDX-License-Identifier: MIT */
/* The start of the runtime. In a file of its own, because programs that OCaml starts need not contain the function that
   it calls. */
#define CAML_NAME_SPACE
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <caml/mlvalues.h>

#include <caml/callback.h>
#include <caml/version.h>

#if OCAML_VERSION >= 50000
/* OCaml 5's stacks are too small for handlers of signals. A thread of Rust's has a stack for them, unless SIGSEGV was ignored
   when the process started, or the main program is not Rust's. This one is never freed, because the thread may use OCaml as long
   as the process lives. */
static void make_signal_stack(void) {
  long least = sysconf(_SC_SIGSTKSZ);
  stack_t stack = {.ss_size = least > 1 << 16 ? (size_t)least : 1 << 16};
  stack.ss_sp = malloc(stack.ss_size);
  if (stack.ss_sp != NULL && sigaltstack(&stack, NULL) != 0) free(stack.ss_sp);
}
#else
static void make_signal_stack(void) {}
#endif

/* caml_startup_exn. After the modules are initialised, OCaml resets the action for SIGSEGV to the default, and
   removes this thread's signal stack. This function restores what was there before: Rust's, which report stack
   overflows. */
value obx_start(char_os **arguments) {
  struct sigaction action;
  stack_t stack;
  int has_action = sigaction(SIGSEGV, NULL, &action) == 0;
  int has_stack = sigaltstack(NULL, &stack) == 0 && !(stack.ss_flags & SS_DISABLE);
  value result = caml_startup_exn(arguments);
  if (has_action) sigaction(SIGSEGV, &action, NULL);
  if (has_stack)
    sigaltstack(&stack, NULL);
  else
    make_signal_stack();
  return result;
}
