/* Replaces the Rust side of ocaml-boxroot/src/c/closure.c. A function concatenates the digit in its
   box and its arguments, and collects garbage now and then. 666 means Not_found. */
#include <caml/mlvalues.h>

#include <caml/alloc.h>
#include <caml/fail.h>
#include <caml/memory.h>

typedef value obx_call(value box, value const *arguments, size_t count);
extern value obx_alloc_closure(value const *box, obx_call *call, size_t count);
extern void caml_minor_collection(void);

#define NOT_FOUND 2 /* an encoded exception */

static value call(value box, value const *arguments, size_t count) {
  long number = Long_val(Field(box, 0));
  for (size_t i = 0; i < count; i++) number = number * 10 + Long_val(arguments[i]);
  for (int i = 0; i < 100; i++) caml_alloc_string(80);
  if (number % 7 == 0) caml_minor_collection();
  return number == 666 ? NOT_FOUND : Val_long(number);
}

value ocaml_boxroot_finish(value result) {
  if (result == NOT_FOUND) caml_raise_not_found();
  return result;
}

value test_make(value digit, value count) {
  CAMLparam1(digit);
  CAMLlocal1(box);
  box = caml_alloc_small(1, 0);
  Field(box, 0) = digit;
  value closure = obx_alloc_closure(&box, call, (size_t)Long_val(count));
  if (closure == 0) caml_failwith("no closures here");
  CAMLreturn(closure);
}
