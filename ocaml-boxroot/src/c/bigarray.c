/* SPDX-License-Identifier: MIT */
/* Bigarrays, for types/bigarray.rs. Nothing here raises. */
#define CAML_NAME_SPACE
#include <stdlib.h>
#include <string.h>

#include <caml/mlvalues.h>

#include <caml/bigarray.h>
#include <caml/custom.h>

extern struct custom_operations const caml_ba_ops; /* declared in no header */

/* types/bigarray.rs uses these numbers. */
_Static_assert(CAML_BA_FLOAT32 == 0 && CAML_BA_FLOAT64 == 1 && CAML_BA_SINT8 == 2 &&
                 CAML_BA_UINT8 == 3 && CAML_BA_SINT16 == 4 && CAML_BA_UINT16 == 5 &&
                 CAML_BA_INT32 == 6 && CAML_BA_INT64 == 7 && CAML_BA_CAML_INT == 8 &&
                 CAML_BA_NATIVE_INT == 9 && CAML_BA_CHAR == 12,
               "the kinds of bigarrays");
_Static_assert(CAML_BA_COMPLEX32 == 10 && CAML_BA_COMPLEX64 == 11 && CAML_BA_C_LAYOUT == 0 &&
                 CAML_BA_FORTRAN_LAYOUT == 0x100,
               "the kinds without elements in Rust, and the layouts");

int obx_ba_kind(value array) { return Caml_ba_array_val(array)->flags & CAML_BA_KIND_MASK; }
int obx_ba_layout(value array) { return Caml_ba_array_val(array)->flags & CAML_BA_LAYOUT_MASK; }
void *obx_ba_data(value array) { return Caml_ba_array_val(array)->data; }
size_t obx_ba_dimensions(value array) { return (size_t)Caml_ba_array_val(array)->num_dims; }
size_t obx_ba_dimension(value array, size_t i) { return (size_t)Caml_ba_array_val(array)->dim[i]; }

/* A bigarray of one dimension, of this kind and layout, with a copy of the data, or 0 if out of
   memory. May run the GC. caml_ba_alloc is not used, because it raises if out of memory,
   or, for given data, does not tell the collector how much memory it takes. */
value obx_alloc_bigarray(int flags, void const *data, size_t length, size_t size) {
  void *copy = malloc(size > 0 ? size : 1);
  if (copy == NULL) return 0;
  if (size > 0) memcpy(copy, data, size);
  value array = caml_alloc_custom_mem((struct custom_operations *)&caml_ba_ops,
                                      SIZEOF_BA_ARRAY + sizeof(intnat), size);
  struct caml_ba_array *header = Caml_ba_array_val(array);
  header->data = copy;
  header->num_dims = 1;
  header->flags = flags | CAML_BA_MANAGED;
  header->proxy = NULL;
  header->dim[0] = (intnat)length;
  return array;
}
