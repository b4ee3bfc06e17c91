/* A custom block that owns roots. Its finaliser deletes them; finalisers may do that. */
#define CAML_NAME_SPACE
#include <stdlib.h>

#include <boxroot.h>
#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/custom.h>
#include <caml/fail.h>
#include <caml/memory.h>

struct listeners {
  boxroot *roots;
  size_t count, capacity;
};
#define LISTENERS(v) (*(struct listeners **)Data_custom_val(v))

static void finalise(value v) {
  struct listeners *listeners = LISTENERS(v);
  for (size_t i = 0; i < listeners->count; i++) boxroot_delete(listeners->roots[i]);
  free(listeners->roots);
  free(listeners);
}

static struct custom_operations operations = {
  "org.boxroot.listeners",    finalise,
  custom_compare_default,     custom_hash_default,
  custom_serialize_default,   custom_deserialize_default,
  custom_compare_ext_default, custom_fixed_length_default,
};

value listeners_create(value unit) {
  (void)unit;
  struct listeners *listeners = calloc(1, sizeof *listeners);
  if (listeners == NULL) caml_raise_out_of_memory();
  value v = caml_alloc_custom_mem(&operations, sizeof listeners, sizeof *listeners);
  LISTENERS(v) = listeners;
  return v;
}

value listeners_add(value v, value function) {
  struct listeners *listeners = LISTENERS(v);
  if (listeners->count == listeners->capacity) {
    size_t capacity = 2 * listeners->capacity + 4;
    boxroot *roots = realloc(listeners->roots, capacity * sizeof *roots);
    if (roots == NULL) caml_raise_out_of_memory();
    listeners->roots = roots;
    listeners->capacity = capacity;
  }
  boxroot root = boxroot_create(function);
  if (root == NULL) caml_failwith(boxroot_error_string());
  listeners->roots[listeners->count++] = root;
  return Val_unit;
}

/* CAMLparam keeps v and the listeners alive while OCaml code runs. */
value listeners_tell(value v, value text) {
  CAMLparam2(v, text);
  for (size_t i = 0; i < LISTENERS(v)->count; i++)
    caml_callback(boxroot_get(LISTENERS(v)->roots[i]), text);
  CAMLreturn(Val_unit);
}
