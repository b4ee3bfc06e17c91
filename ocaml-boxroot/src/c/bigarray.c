/* SPDX-License-Identifier: MIT */
/* Bigarrays, for types/bigarray.rs. Nothing here raises. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <caml/mlvalues.h>

#include <caml/bigarray.h>
#include <caml/custom.h>
#include <caml/version.h>

#include "obx.h"

/* types/bigarray.rs uses these numbers. */
_Static_assert(CAML_BA_FLOAT32 == 0 && CAML_BA_FLOAT64 == 1 && CAML_BA_SINT8 == 2 &&
                 CAML_BA_UINT8 == 3 && CAML_BA_SINT16 == 4 && CAML_BA_UINT16 == 5 &&
                 CAML_BA_INT32 == 6 && CAML_BA_INT64 == 7 && CAML_BA_CAML_INT == 8 &&
                 CAML_BA_NATIVE_INT == 9 && CAML_BA_CHAR == 12,
               "the kinds of bigarrays");
_Static_assert(CAML_BA_COMPLEX32 == 10 && CAML_BA_COMPLEX64 == 11 && CAML_BA_C_LAYOUT == 0 &&
                 CAML_BA_FORTRAN_LAYOUT == 0x100,
               "the kinds without elements in Rust, and the layouts");
_Static_assert(CAML_BA_MAX_NUM_DIMS == 16, "the number of dimensions");

int obx_ba_kind(value array) { return Caml_ba_array_val(array)->flags & CAML_BA_KIND_MASK; }
int obx_ba_layout(value array) { return Caml_ba_array_val(array)->flags & CAML_BA_LAYOUT_MASK; }
void *obx_ba_data(value array) { return Caml_ba_array_val(array)->data; }
size_t obx_ba_dimensions(value array) { return (size_t)Caml_ba_array_val(array)->num_dims; }
size_t obx_ba_dimension(value array, size_t i) { return (size_t)Caml_ba_array_val(array)->dim[i]; }

/* A bigarray of one dimension, of this kind and layout, with a copy of the data, or 0 if out of
   memory. May run the GC. caml_ba_alloc is not used: it raises if out of memory and, for given
   data, does not tell the GC how much memory the data takes. */
value obx_alloc_bigarray(int flags, void const *data, size_t length, size_t size) {
  void *copy = malloc(size > 0 ? size : 1);
  if (copy == NULL) return 0;
  if (size > 0) memcpy(copy, data, size);
  value array = obx_alloc_custom(&caml_ba_ops, SIZEOF_BA_ARRAY + sizeof(intnat), size);
  if (array == 0) {
    free(copy);
    return 0;
  }
  struct caml_ba_array *header = Caml_ba_array_val(array);
  header->data = copy;
  header->num_dims = 1;
  header->flags = flags | CAML_BA_MANAGED;
  header->proxy = NULL;
  header->dim[0] = (intnat)length;
  return array;
}

/* ---- bigarrays whose data a Rust value owns ---- */

/* What such a bigarray shares with those that OCaml makes of it (`sub`, `slice_left`, `reshape` and
   so on). OCaml makes a proxy for bigarrays that share memory, counts them in it, and gives each
   the operations of the first. Here the proxy exists from the start, because the owner is kept with
   it. */
struct shared {
  struct caml_ba_proxy proxy;
  struct obx_held *owner;
};

/* Decrements the count of bigarrays, and returns whether this was the last one. OCaml 4 runs
   finalisers under its lock. */
static bool is_last(struct caml_ba_proxy *proxy) {
#if OCAML_VERSION >= 50000
  return atomic_fetch_sub(&proxy->refcount, 1) == 1;
#else
  return --proxy->refcount == 0;
#endif
}

static void finalise(value array) {
  struct shared *shared = (struct shared *)Caml_ba_array_val(array)->proxy;
  if (!is_last(&shared->proxy)) return;
  obx_drop(shared->owner);
  free(shared);
}

/* OCaml's own operations, except for the finaliser. OCaml compares and hashes these bigarrays like
   any others, and unmarshals them as its own. */
static struct custom_operations const shared_operations = {
  .identifier = "_bigarr02",
  .finalize = finalise,
  .compare = caml_ba_compare,
  .hash = caml_ba_hash,
  .serialize = caml_ba_serialize,
  .deserialize = caml_ba_deserialize,
};

/* A bigarray of this kind and layout, with `size` bytes of data that belong to `owner`. May run the
   GC. 0 if out of memory; then the caller keeps the owner. */
value obx_own_bigarray(int flags, struct obx_held *owner, void *data, size_t size,
                       size_t dimensions, size_t const *sizes) {
  struct shared *shared = malloc(sizeof *shared);
  if (shared == NULL) return 0;
  shared->owner = owner;
  shared->proxy.refcount = 1;
  shared->proxy.data = data;
  shared->proxy.size = 0; /* as in OCaml, except for mapped files */
  value array =
    obx_alloc_custom(&shared_operations, SIZEOF_BA_ARRAY + dimensions * sizeof(intnat), size);
  if (array == 0) {
    free(shared);
    return 0;
  }
  struct caml_ba_array *header = Caml_ba_array_val(array);
  header->data = data;
  header->num_dims = (intnat)dimensions;
  header->flags = flags | CAML_BA_MANAGED;
  header->proxy = &shared->proxy;
  for (size_t i = 0; i < dimensions; i++) header->dim[i] = (intnat)sizes[i];
  return array;
}

/* ---- parts ---- */

/* The proxy of a bigarray, which counts the bigarrays that share its memory. NULL if OCaml does not
   own the memory, or if out of memory. Another domain may make one at the same time. */
static struct caml_ba_proxy *proxy_of(struct caml_ba_array *array) {
  struct caml_ba_proxy *proxy = __atomic_load_n(&array->proxy, __ATOMIC_ACQUIRE);
  if (proxy != NULL || (array->flags & CAML_BA_MANAGED_MASK) == CAML_BA_EXTERNAL) return proxy;
  struct caml_ba_proxy *made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  made->refcount = 1;
  made->data = array->data;
  made->size = array->flags & CAML_BA_MAPPED_FILE ? caml_ba_byte_size(array) : 0;
  if (__atomic_compare_exchange_n(&array->proxy, &proxy, made, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE))
    return made;
  free(made);
  return proxy;
}

static void add_one(struct caml_ba_proxy *proxy) {
#if OCAML_VERSION >= 50000
  (void)atomic_fetch_add(&proxy->refcount, 1);
#else
  proxy->refcount++;
#endif
}

/* A bigarray that shares a part of the memory of the bigarray in a root, from element `offset` on.
   May run the GC. 0 if out of memory. OCaml's own functions raise, and must not run in several
   domains at once. */
value obx_ba_part(value const *whole, size_t offset, size_t dimensions, size_t const *sizes) {
  struct caml_ba_proxy *proxy = proxy_of(Caml_ba_array_val(*whole));
  int flags = (int)Caml_ba_array_val(*whole)->flags;
  if (proxy == NULL && (flags & CAML_BA_MANAGED_MASK) != CAML_BA_EXTERNAL) return 0;
  value part =
    obx_alloc_custom(Custom_ops_val(*whole), SIZEOF_BA_ARRAY + dimensions * sizeof(intnat), 0);
  struct caml_ba_array *header = Caml_ba_array_val(part);
  size_t size = (size_t)caml_ba_element_size[flags & CAML_BA_KIND_MASK];
  header->data = (char *)Caml_ba_array_val(*whole)->data + offset * size;
  header->num_dims = (intnat)dimensions;
  header->flags = flags;
  header->proxy = proxy;
  for (size_t i = 0; i < dimensions; i++) header->dim[i] = (intnat)sizes[i];
  if (proxy != NULL) add_one(proxy);
  return part;
}

/* Copies the elements to a bigarray of the same size. */
void obx_ba_copy(value from, value to) {
  struct caml_ba_array *source = Caml_ba_array_val(from);
  size_t size = caml_ba_byte_size(source);
  if (size > 0) memmove(Caml_ba_array_val(to)->data, source->data, size);
}
