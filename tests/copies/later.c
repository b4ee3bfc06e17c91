/* Has a function that the runtime of a later OCaml has, too. */
#include <boxroot.h>
#include <stdio.h>

void caml_init_gc_tweaks(void);
void caml_init_gc_tweaks(void) {}

value later_create(value unit) {
  boxroot root = boxroot_create(unit);
  puts(root != NULL ? "created" : boxroot_error_string());
  return Val_bool(root == NULL && !boxroot_setup() && boxroot_status() == BOXROOT_INVALID);
}
