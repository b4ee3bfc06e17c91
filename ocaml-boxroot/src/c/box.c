/* SPDX-License-Identifier: MIT */
/* Rust values in the OCaml heap, for types/boxed.rs. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* A block that could not be unmarshalled holds nothing. */
static void drop_held(value box) {
  if (*held_by(box) != NULL) obx_drop(*held_by(box));
}

/* ---- OCaml's polymorphic functions ---- */

/* OCaml calls these functions, which call Rust functions. The Rust functions do not use OCaml and
   do not unwind. If one fails, it writes a text, which the C function raises. */

static int compare(value a, value b) {
  char text[OBX_ERROR_SIZE];
  struct obx_operations const *operations = (*held_by(a))->operations;
  /* If marshalled data was tampered with, the block's operations may be those of another type. */
  if (operations->compare == NULL) caml_invalid_argument("compare: abstract value");
  int order = operations->compare(*held_by(a), *held_by(b), text);
  if (order == OBX_FAILED) caml_failwith(text);
  return order;
}

static intnat hash(value box) {
  struct obx_operations const *operations = (*held_by(box))->operations;
  return operations != NULL && operations->hash != NULL ? operations->hash(*held_by(box)) : 0;
}

/* The bytes of the box that this thread is marshalling or unmarshalling. They are left over from an
   earlier box if OCaml raised, because a buffer was full or the data ended. */
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

static void free_read(unsigned char *bytes, size_t length) {
  (void)length;
  free(bytes);
}

/* A type that OCaml marshals. It has its own operations, which OCaml finds by their identifier. In
   a program with several Rust libraries, they are those of the library that has the type. If
   libraries share this code, the list below has the types of all libraries. */
struct obx_type {
  struct custom_operations operations;
  obx_read *read;
  struct obx_type *next;
  char const *name; /* the end of the identifier */
  char identifier[];
};

static _Atomic(struct obx_type *) types;

/* Makes a value from the bytes of `write`, which begin with the name. */
static struct obx_held *read_bytes(unsigned char const *bytes, size_t length, char *text) {
  unsigned char const *end = memchr(bytes, 0, length);
  struct obx_type *type = end != NULL ? atomic_load(&types) : NULL;
  while (type != NULL && strcmp(type->name, (char const *)bytes) != 0) type = type->next;
  if (type != NULL) return type->read(end + 1, length - (size_t)(end + 1 - bytes), text);
  strcpy(text, "a Rust value of an unknown type");
  return NULL;
}

static uintnat deserialize(void *place) {
  char text[OBX_ERROR_SIZE] = "out of memory while reading a Rust value";
  struct obx_held **held = place;
  *held = NULL; /* for the finaliser, if this raises */
  free_in_work();
  in_work.free = free_read;
  in_work.length = (size_t)caml_deserialize_uint_8();
  in_work.bytes = malloc(in_work.length);
  if (in_work.bytes != NULL) {
    caml_deserialize_block_1(in_work.bytes, (intnat)in_work.length);
    *held = read_bytes(in_work.bytes, in_work.length, text);
    free_in_work();
  }
  if (*held == NULL) caml_deserialize_error(text);
  return sizeof *held;
}

/* OCaml raises if an operation has no function here. It orders boxes with different functions by
   their identifiers. */
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

static struct custom_operations const *operations_of(struct obx_operations const *operations) {
  int which = 0;
  if (operations != NULL && operations->compare != NULL) which |= COMPARES;
  if (operations != NULL && operations->write != NULL) which |= MARSHALS;
  return &box_operations[which];
}

/* Lets OCaml unmarshal boxes of a type with these operations and this name. Returns NULL if out of
   memory; raises if OCaml runs out of memory. Needs the lock. Two domains may register the same
   type, because OCaml finds the operations that were registered last. */
struct obx_type *obx_unmarshal_boxes(struct obx_operations const *of, char const *name,
                                     size_t length, obx_read *read) {
  struct custom_operations const *operations = operations_of(of);
  size_t before = strlen(operations->identifier);
  struct obx_type *type = malloc(sizeof *type + before + 1 + length + 1);
  if (type == NULL) return NULL;
  memcpy(type->identifier, operations->identifier, before);
  char *end = type->identifier + before;
  *end++ = '.';
  memcpy(end, name, length);
  end[length] = 0;
  type->name = end;
  type->operations = *operations;
  type->operations.identifier = type->identifier;
  type->read = read;
  type->next = atomic_load(&types);
  while (!atomic_compare_exchange_weak(&types, &type->next, type)) {}
  caml_register_custom_operations(&type->operations);
  return type;
}

/* ---- boxes ---- */

/* A block that owns the Rust value `held`, which takes `size` bytes. `type` is NULL if OCaml does
   not marshal the value. May run the GC. 0 if out of memory; then the caller keeps `held`. */
value obx_alloc_box(struct obx_held *held, size_t size, struct obx_type const *type) {
  struct custom_operations const *operations =
    type != NULL ? &type->operations : operations_of(held->operations);
  value box = obx_alloc_custom(operations, sizeof held, size);
  if (box != 0) *held_by(box) = held;
  return box;
}

/* Whether the value is a block from obx_alloc_box. */
int obx_is_box(value v) {
  return Is_block(v) && has_header(v) && Tag_val(v) == Custom_tag &&
         Custom_ops_val(v)->finalize == drop_held;
}
