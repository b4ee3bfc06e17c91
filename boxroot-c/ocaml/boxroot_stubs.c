/* SPDX-License-Identifier: MIT */
/* The C functions of boxroot.ml, and the library: in one object, so that boxroot.cmxs contains all
   of it. */
#include "../boxroot.c"

#include <caml/fail.h>
#include <caml/version.h>
#if OCAML_VERSION < 50000
#include <dlfcn.h>
#endif

value boxroot_ocaml_setup(value unit);
value boxroot_ocaml_live_roots(value unit);
value boxroot_ocaml_print_stats(value unit);
value boxroot_ocaml_trim(value unit);
value boxroot_ocaml_validate(value unit);

/* OCaml 4: the Thread module must be initialised before the setup (boxroot.h). A program may link
   its libraries in another order. So this file calls caml_thread_initialize, by which Thread
   initialises itself; called again, that does nothing. The collector may run in it, so
   boxroot_setup, which C code calls while it has unrooted values, cannot do this. */
#if OCAML_VERSION < 50000
typedef value initialiser(value);
#ifdef __ELF__
extern initialiser caml_thread_initialize __attribute__((weak));
static initialiser *linked_initialiser(void) { return &caml_thread_initialize; }
#else
static initialiser *linked_initialiser(void) { return NULL; }
#endif

static void initialise_threads(void) {
  initialiser *initialise = linked_initialiser();
  /* In bytecode, another shared object may have it. */
  if (initialise == NULL) initialise = (initialiser *)dlsym(RTLD_DEFAULT, "caml_thread_initialize");
  if (initialise != NULL) initialise(Val_unit);
}
#else
static void initialise_threads(void) {}
#endif

value boxroot_ocaml_setup(value unit) {
  initialise_threads();
  if (!boxroot_setup()) caml_failwith(boxroot_error_string());
  return unit;
}

value boxroot_ocaml_live_roots(value unit) {
  (void)unit;
  struct boxroot_stats statistics;
  boxroot_stats(&statistics, sizeof statistics);
  return Val_long(statistics.live_roots);
}

value boxroot_ocaml_print_stats(value unit) {
  boxroot_print_stats();
  return unit;
}

value boxroot_ocaml_trim(value unit) {
  (void)unit;
  return Val_long(boxroot_trim());
}

value boxroot_ocaml_validate(value unit) {
  char const *broken = boxroot_validate();
  if (broken != NULL) caml_failwith(broken);
  return unit;
}
