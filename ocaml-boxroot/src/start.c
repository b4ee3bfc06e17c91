/* SPDX-License-Identifier: MIT */
/* The start of the runtime. A file of its own: what it calls is not in every program that OCaml
   starts. */
#define CAML_NAME_SPACE
#include <signal.h>

#include <caml/mlvalues.h>

#include <caml/callback.h>

/* Where the program has no runtime, the linker prints the name of the function that misses it. */
static __attribute__((noinline)) value
no_ocaml_runtime_is_linked_enable_link_runtime_or_use_build_program(char_os **arguments) {
  return caml_startup_exn(arguments);
}

/* caml_startup_exn. When the modules are initialised, OCaml sets the action for SIGSEGV to the
   default, and this thread's signal stack to none: Rust's, which report stack overflows, come back. */
value obx_start(char_os **arguments) {
  struct sigaction action;
  stack_t stack;
  int has_action = sigaction(SIGSEGV, NULL, &action) == 0;
  int has_stack = sigaltstack(NULL, &stack) == 0;
  value result = no_ocaml_runtime_is_linked_enable_link_runtime_or_use_build_program(arguments);
  if (has_action) sigaction(SIGSEGV, &action, NULL);
  if (has_stack) sigaltstack(&stack, NULL);
  return result;
}
