/* SPDX-License-Identifier: MIT */
/* The start of the runtime. In a file of its own, because programs that OCaml starts need not contain the function that
   it calls. */
#define CAML_NAME_SPACE
#include <signal.h>

#include <caml/mlvalues.h>

#include <caml/callback.h>

#include "obx.h"

/* caml_startup_exn. After the modules are initialised, OCaml resets the action for SIGSEGV to the default, and
   removes this thread's signal stack. This function restores the action, which is Rust's and reports stack overflows, and sees
   to a signal stack. That which the thread may have from Rust will not do on OCaml 5: `std::process::exit` unmaps it, on whatever
   thread that is called. */
value obx_start(char_os **arguments) {
  struct sigaction action;
  stack_t stack;
  int has_action = sigaction(SIGSEGV, NULL, &action) == 0;
  int has_stack = sigaltstack(NULL, &stack) == 0;
  value result = caml_startup_exn(arguments);
  if (has_action) sigaction(SIGSEGV, &action, NULL);
  if (!obx_make_signal_stack() && has_stack) sigaltstack(&stack, NULL);
  return result;
}
