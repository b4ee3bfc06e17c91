/* SPDX-License-Identifier: MIT */
/* Starts the runtime. */
#define CAML_NAME_SPACE
#include <signal.h>

#include <caml/mlvalues.h>

#include <caml/callback.h>

#include "obx.h"

#ifdef __ELF__
/* NULL in bytecode, unless ocamlc compiled the program to an object file. A weak reference links
   nothing from an archive. The strong reference links the same file, through a function that native
   code and bytecode have. */
extern value caml_startup_exn(char_os **arguments) __attribute__((weak));
__attribute__((used)) static void (*const in_the_same_file)(char_os **) = caml_main;
#endif

/* Whether obx_start can start the OCaml program. It cannot if there is none, or if it is plain
   bytecode, which starts by itself. */
int obx_can_start(void) {
#ifdef __ELF__
  return caml_startup_exn != NULL;
#else
  return 1;
#endif
}

/* Calls caml_startup_exn; needs obx_can_start. After OCaml has initialised the modules, it resets
   the action for SIGSEGV to the default and removes this thread's signal stack. This function
   restores the action, which is Rust's and reports stack overflows, and sets a signal stack. On
   OCaml 5 that is a new one, because `std::process::exit` unmaps Rust's, on any thread. */
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
