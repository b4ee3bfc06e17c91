/* One root, set up by C alone. */
#define CAML_NAME_SPACE
#include <boxroot.h>
#include <caml/alloc.h>
#include <caml/fail.h>

static boxroot text;

value quiet_setup(value unit) {
  if (!boxroot_setup()) caml_failwith(boxroot_error_string());
  return unit;
}

value quiet_keep(value v) {
  boxroot_delete(text);
  text = boxroot_create(v);
  if (text == NULL) caml_failwith(boxroot_error_string());
  return Val_unit;
}

value quiet_kept(value unit) {
  (void)unit;
  return boxroot_get(text);
}
