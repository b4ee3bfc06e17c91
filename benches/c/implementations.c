/* The implementations by name, for benches/ocaml/micro.ml and benches/c/threads.c. */
#define CAML_NAME_SPACE
#include <stdlib.h>
#include <string.h>

#include <caml/mlvalues.h>

#include "implementations.h"

extern struct implementation const boxroot_implementation, global_implementation,
  generational_implementation, dll_boxroot_implementation, rem_boxroot_implementation,
  bitmap_boxroot_implementation, rust_raw_implementation;
#ifdef BENCH_VARIANTS
extern struct implementation const unsafe_implementation, force_remote_implementation,
  rust_token_implementation, rust_drop_implementation;
#endif

static struct implementation const *const known[] = {
  &boxroot_implementation,     &global_implementation,       &generational_implementation,
  &dll_boxroot_implementation, &rem_boxroot_implementation,  &bitmap_boxroot_implementation,
  &rust_raw_implementation,
#ifdef BENCH_VARIANTS
  &unsafe_implementation,      &force_remote_implementation, &rust_token_implementation,
  &rust_drop_implementation,
#endif
};

struct implementation const *implementation;

/* From now on, measures this implementation, which exists (benches/ocaml/micro.ml). */
value bench_select(value name) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i]->name, String_val(name)) == 0) implementation = known[i];
  if (implementation == NULL) abort();
  implementation->prepare();
  return Val_unit;
}

value foreign_cell_get(value c) { return *cell_of_ocaml(c); }
