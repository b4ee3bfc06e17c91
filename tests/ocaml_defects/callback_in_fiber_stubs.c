#include <caml/callback.h>
#include <caml/mlvalues.h>

value call_ocaml(value f) { return caml_callback(f, Val_unit); }
