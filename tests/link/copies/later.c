/* Contains a function that the runtime of the next OCaml version also has. */
#include <boxroot.h>
#include <caml/version.h>
#include <stdio.h>

#if OCAML_VERSION < 50100
#define LATER caml_try_run_on_all_domains_async
#elif OCAML_VERSION < 50200
#define LATER caml_orphan_ephemerons
#elif OCAML_VERSION < 50300
#define LATER caml_process_pending_actions_res
#elif OCAML_VERSION < 50400
#define LATER caml_gc_ramp_up
#else
#define LATER caml_init_gc_tweaks
#endif
void LATER(void);
void LATER(void) {}

value later_create(value unit) {
  boxroot root = boxroot_create(unit);
  puts(root != NULL ? "created" : boxroot_error_string());
  return Val_bool(root == NULL && !boxroot_setup() && boxroot_status() == BOXROOT_INVALID);
}
