/* SPDX-License-Identifier: MIT */
/* The start of the runtime. In a file of its own, because programs that OCaml starts need not contain the function that
   it calls. */
#define CAML_NAME_SPACE
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <caml/mlvalues.h>

#include <caml/callback.h>
#include <caml/version.h>

/* OCaml 5's stacks are too small for handlers of signals, so the thread gets a stack for them. That which it may have from Rust will
   not do: `std::process::exit` unmaps it, on whatever thread that is called. This one is never freed, because the thread may use
   OCaml as long as the process lives. False if there is no memory, or no need (OCaml 4). */
static bool make_signal_stack(void) {
#if OCAML_VERSION >= 50000
  stack_t stack = {.ss_size = 1 << 16};
#ifdef _SC_SIGSTKSZ /* on some processors a handler's frame is large */
  long least = sysconf(_SC_SIGSTKSZ);
  if (least > 1 << 16) stack.ss_size = (size_t)least;
#endif
  stack.ss_sp = malloc(stack.ss_size);
  if (stack.ss_sp != NULL && sigaltstack(&stack, NULL) == 0) return true;
  free(stack.ss_sp);
#endif
  return false;
}

/* caml_startup_exn. After the modules are initialised, OCaml resets the action for SIGSEGV to the default, and
   removes this thread's signal stack. This function restores the action, which is Rust's and reports stack overflows, and sees
   to a signal stack. */
value obx_start(char_os **arguments) {
  struct sigaction action;
  stack_t stack;
  int has_action = sigaction(SIGSEGV, NULL, &action) == 0;
  int has_stack = sigaltstack(NULL, &stack) == 0;
  value result = caml_startup_exn(arguments);
  if (has_action) sigaction(SIGSEGV, &action, NULL);
  if (!make_signal_stack() && has_stack) sigaltstack(&stack, NULL);
  return result;
}
