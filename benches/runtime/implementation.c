/* The implementation that is measured, by name. */
#define CAML_NAME_SPACE
#include "implementation.h"

#include <stdlib.h>
#include <string.h>

struct implementation const *implementation;

/* Selects the implementation to measure. program.ml selects only those that exist. */
value bench_select(value name) {
  for (struct implementation const *const *i = implementations; *i != NULL; i++)
    if (strcmp((*i)->name, String_val(name)) == 0) implementation = *i;
  if (implementation == NULL) abort();
  implementation->prepare();
  return Val_unit;
}
