/* SPDX-License-Identifier: MIT */
/* Rust values in the OCaml heap, for types/boxed.rs. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <caml/mlvalues.h>

#include <caml/custom.h>
#include <caml/fail.h>
#include <caml/intext.h>
#include <caml/memory.h>
#include <caml/version.h>
#if OCAML_VERSION >= 50000
#define has_header(v) 1
#else
#include <caml/address_class.h>
#define has_header(v) Is_in_value_area(v)
#endif

#include "obx.h"

static struct obx_held **held_by(value box) { return (struct obx_held **)Data_custom_val(box); }

static __thread bool in_finaliser;

int obx_in_finaliser(void) { return in_finaliser; }

void obx_drop(struct obx_held *held) {
  in_finaliser = true;
  held->drop(held);
  in_finaliser = false;
}

/* A block that could not be unmarshalled has nothing. */
static void drop_held(value box) {
  if (*held_by(box) != NULL) obx_drop(*held_by(box));
}

/* ---- OCaml's polymorphic functions ---- */

/* OCaml calls these functions. Rust's do not use OCaml, and do not unwind; if one fails, it has
   written a text, and C raises. */

static int compare(value a, value b) {
  char text[OBX_ERROR_SIZE];
  int order = (*held_by(a))->operations->compare(*held_by(a), *held_by(b), text);
  if (order == OBX_FAILED) caml_failwith(text);
  return order;
}

static intnat hash(value box) {
  struct obx_operations const *operations = (*held_by(box))->operations;
  return operations != NULL && operations->hash != NULL ? operations->hash(*held_by(box)) : 0;
}

/* The bytes of the box that this thread marshals or unmarshals; or of the last one, if OCaml raised
   an exception because a buffer was full or the data ended. */
static __thread struct {
  unsigned char *bytes;
  size_t length;
  void (*free)(unsigned char *bytes, size_t length);
} in_work;

static void free_in_work(void) {
  if (in_work.bytes != NULL) in_work.free(in_work.bytes, in_work.length);
  in_work.bytes = NULL;
}

/* The size of a pointer. */
static struct custom_fixed_length const fixed_length = {.bsize_32 = 4, .bsize_64 = 8};

static void serialize(value box, uintnat *size_32, uintnat *size_64) {
  char text[OBX_ERROR_SIZE];
  struct obx_operations const *operations = (*held_by(box))->operations;
  free_in_work();
  in_work.free = operations->free;
  in_work.bytes = operations->write(*held_by(box), &in_work.length, text);
  if (in_work.bytes == NULL) caml_failwith(text);
  caml_serialize_int_8((int64_t)in_work.length);
  caml_serialize_block_1(in_work.bytes, (intnat)in_work.length);
  free_in_work();
  *size_32 = (uintnat)fixed_length.bsize_32;
  *size_64 = (uintnat)fixed_length.bsize_64;
}

static _Atomic(obx_read *) read_held;

static void free_read(unsigned char *bytes, size_t length) {
  (void)length;
  free(bytes);
}

static uintnat deserialize(void *place) {
  char text[OBX_ERROR_SIZE] = "no memory for the bytes of a Rust value";
  struct obx_held **held = place;
  *held = NULL; /* for the finaliser, if this raises */
  free_in_work();
  in_work.free = free_read;
  in_work.length = (size_t)caml_deserialize_uint_8();
  in_work.bytes = malloc(in_work.length);
  if (in_work.bytes != NULL) {
    caml_deserialize_block_1(in_work.bytes, (intnat)in_work.length);
    *held = atomic_load(&read_held)(in_work.bytes, in_work.length, text);
    free_in_work();
  }
  if (*held == NULL) caml_deserialize_error(text);
  return sizeof *held;
}

/* OCaml raises exceptions for what has no function here. It finds `deserialize` by the identifier,
   and orders boxes with different functions by it. */
#define OPERATIONS(letters, compare_boxes, serialize_box)                                          \
  {                                                                                                \
    .identifier = "ocaml_boxroot.rust" letters, .finalize = drop_held, .compare = compare_boxes,   \
    .hash = hash, .serialize = serialize_box, .deserialize = deserialize,                          \
    .fixed_length = &fixed_length,                                                                 \
  }

enum { COMPARES = 1, MARSHALS = 2 };

static struct custom_operations const box_operations[] = {
  [0] = OPERATIONS("", NULL, NULL),
  [COMPARES] = OPERATIONS(".c", compare, NULL),
  [MARSHALS] = OPERATIONS(".m", NULL, serialize),
  [COMPARES | MARSHALS] = OPERATIONS(".cm", compare, serialize),
};

/* Lets OCaml unmarshal boxes. Needs the lock. Raises if out of memory. OCaml finds the operations
   that were registered last, so that two domains may register them. */
void obx_unmarshal_boxes(obx_read *read) {
  static atomic_bool is_registered;
  atomic_store(&read_held, read);
  if (atomic_load(&is_registered)) return;
  caml_register_custom_operations((struct custom_operations *)&box_operations[MARSHALS]);
  caml_register_custom_operations((struct custom_operations *)&box_operations[COMPARES | MARSHALS]);
  atomic_store(&is_registered, true);
}

/* ---- boxes ---- */

/* A block that owns the Rust value `held`, which takes `size` bytes. May run the GC. 0 if out of
   memory; then the caller keeps `held`. */
value obx_alloc_box(struct obx_held *held, size_t size) {
  struct obx_operations const *operations = held->operations;
  int which = 0;
  if (operations != NULL && operations->compare != NULL) which |= COMPARES;
  if (operations != NULL && operations->write != NULL) which |= MARSHALS;
  value box = obx_alloc_custom(&box_operations[which], sizeof held, size);
  if (box != 0) *held_by(box) = held;
  return box;
}

/* Whether the value is a block from obx_alloc_box. */
int obx_is_box(value v) {
  return Is_block(v) && has_header(v) && Tag_val(v) == Custom_tag &&
         Custom_ops_val(v)->finalize == drop_held;
}
