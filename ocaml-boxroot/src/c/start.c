/* SPDX-License-Identifier: MIT */
/* The start of the runtime. */
#define CAML_NAME_SPACE
#include <signal.h>

#include <caml/mlvalues.h>

#include <caml/callback.h>

#include "obx.h"

#ifdef __ELF__
/* NULL in bytecode, unless ocamlc has made an object of the program. A weak reference takes nothing
   from an archive. The strong reference does, to a function in the same file, which native code and
   bytecode have. */
extern value caml_startup_exn(char_os **arguments) __attribute__((weak));
__attribute__((used)) static void (*const in_the_same_file)(char_os **) = caml_main;
#endif

/* Whether the program can be started: it is not there, or it is bytecode alone, which starts by
   itself. */
int obx_can_start(void) {
#ifdef __ELF__
  return caml_startup_exn != NULL;
#else
  return 1;
#endif
}

/* caml_startup_exn, if obx_can_start. After the modules are initialised, OCaml resets the action
   for SIGSEGV to the default, and removes this thread's signal stack. This function restores the
   action, which is Rust's and reports stack overflows, and makes sure that there is a signal stack.
   That which the thread may have from Rust will not do on OCaml 5: `std::process::exit` unmaps it,
   on any thread. */
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
