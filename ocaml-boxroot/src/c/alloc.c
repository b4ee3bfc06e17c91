/* SPDX-License-Identifier: MIT */
/* Allocates and reads values of the OCaml heap, which needs macros of the OCaml headers. Nothing
   here raises. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <string.h>

#include <caml/mlvalues.h>

#include <caml/alloc.h>
#include <caml/custom.h>
#include <caml/memory.h>
#include <caml/version.h>
#if OCAML_VERSION >= 50300
#include <caml/memprof.h>
#endif
#if OCAML_VERSION >= 50000
#include <caml/shared_heap.h>
#endif
#if OCAML_VERSION < 50000
#include <caml/address_class.h>
#endif

#include "obx.h"

/* Whether a value that is not an immediate is a block. On OCaml 4, values of abstract types may
   also be pointers out of the heap. */
#if OCAML_VERSION >= 50000
#define has_header(v) 1
#else
#define has_header(v) Is_in_value_area(v)
#endif

/* An uninitialised block of the major heap, or 0 if out of memory. The GC does not run. */
static value alloc_large(mlsize_t size, tag_t tag) {
#if OCAML_VERSION >= 50000
  return caml_alloc_shr_noexc(size, tag);
#else
  return caml_alloc_shr_no_track_noexc(size, tag);
#endif
}

/* ---- strings ---- */

value obx_alloc_string(char const *bytes, size_t length) {
  mlsize_t words = length / sizeof(value) + 1;
  if (words <= Max_young_wosize) return caml_alloc_initialized_string(length, bytes);
  if (words > Max_wosize) return 0;
  value string = alloc_large(words, String_tag);
  if (string == 0) return 0;
  mlsize_t last = words * sizeof(value) - 1;
  Field(string, words - 1) = 0;
  Byte_u(string, last) = (unsigned char)(last - length);
  memcpy(Bp_val(string), bytes, length);
  return caml_check_urgent_gc(string);
}

/* ---- numbers ---- */

value obx_alloc_float(double x) { return caml_copy_double(x); }

value obx_alloc_int32(int32_t n) { return caml_copy_int32(n); }
int32_t obx_int32(value v) { return Int32_val(v); }
value obx_alloc_int64(int64_t n) { return caml_copy_int64(n); }
int64_t obx_int64(value v) { return Int64_val(v); }
value obx_alloc_nativeint(intnat n) { return caml_copy_nativeint(n); }
intnat obx_nativeint(value v) { return Nativeint_val(v); }

/* ---- blocks ---- */

/* The tag of a block or of a pointer out of the heap, which counts as an abstract block without
   fields. */
int obx_kind(value v, size_t *size) {
  *size = has_header(v) ? Wosize_val(v) : 0;
  return has_header(v) ? Tag_val(v) : Abstract_tag;
}

/* A block that the caller must initialise before the GC may run again, or 0 if out of memory. May
   run the GC. */
static value alloc_uninitialised(size_t size, tag_t tag) {
  if (size == 0) return Atom(tag);
  if (size <= Max_young_wosize) return caml_alloc_small(size, tag);
  return size > Max_wosize ? 0 : alloc_large(size, tag);
}

/* A block whose fields are copied from roots, or 0 if out of memory. May run the GC. */
value obx_alloc_block(int tag, size_t size, value const *const *fields) {
  value block = alloc_uninitialised(size, (tag_t)tag);
  if (block == 0) return 0;
  if (size <= Max_young_wosize) {
    for (size_t i = 0; i < size; i++) Field(block, i) = *fields[i];
    return block;
  }
  for (size_t i = 0; i < size; i++) Field(block, i) = Val_unit;
  for (size_t i = 0; i < size; i++) caml_initialize(&Field(block, i), *fields[i]);
  return caml_check_urgent_gc(block);
}

/* A list with this first element, whose rest is in a root. May run the GC. */
value obx_alloc_cons(value first, value const *rest) {
  value cell;
  if (Is_long(first)) {
    cell = caml_alloc_small(2, 0);
  } else {
    CAMLparam1(first);
    cell = caml_alloc_small(2, 0);
    CAMLdrop;
  }
  Field(cell, 0) = first;
  Field(cell, 1) = *rest;
  return cell;
}

/* An array of units, or 0 if out of memory. May run the GC. */
value obx_alloc_array(size_t length) {
  value array = alloc_uninitialised(length, 0);
  if (array == 0) return 0;
  for (size_t i = 0; i < length; i++) Field(array, i) = Val_unit;
  return length > Max_young_wosize ? caml_check_urgent_gc(array) : array;
}

void obx_store(value block, size_t i, value v) { caml_modify(&Field(block, i), v); }

/* ---- floats in a row ---- */

#ifdef FLAT_FLOAT_ARRAY
int const obx_float_arrays_are_flat = 1;
#else
int const obx_float_arrays_are_flat = 0;
#endif

/* A block of `length` uninitialised floats, in the flat form of arrays and records, or 0 if out of
   memory. May run the GC. */
value obx_alloc_flat_array(size_t length) {
  if (length == 0) return Atom(0);
  if (length > Max_wosize / Double_wosize) return 0;
  value array = alloc_uninitialised(length * Double_wosize, Double_array_tag);
  if (array == 0 || length * Double_wosize <= Max_young_wosize) return array;
  return caml_check_urgent_gc(array);
}

/* ---- custom blocks ---- */

#if OCAML_VERSION < 50300 /* <caml/custom.h> declares it since 5.3 */
extern uintnat caml_custom_major_ratio;
#endif
extern uintnat caml_custom_minor_max_bsz; /* declared in no header */

/* How much memory of custom blocks causes a whole GC cycle, as in OCaml's custom.c. */
static mlsize_t max_memory(void) {
#if OCAML_VERSION >= 50000
  return caml_heap_size(Caml_state->shared_heap) / 150 * caml_custom_major_ratio;
#else
  return Bsize_wsize(Caml_state->stat_heap_wsz) / 150 * caml_custom_major_ratio;
#endif
}

void obx_count_memory(size_t memory) { caml_adjust_gc_speed(memory, max_memory()); }

value obx_alloc_custom(struct custom_operations const *operations, size_t size, size_t memory) {
#if OCAML_VERSION >= 50000
  /* Since OCaml 5.3, caml_alloc_custom_mem allocates these blocks in the major heap, and may
     raise. */
  if (memory > caml_custom_minor_max_bsz) {
    value block = caml_alloc_shr_noexc(1 + (size + sizeof(value) - 1) / sizeof(value), Custom_tag);
    if (block == 0) return 0;
    Custom_ops_val(block) = (struct custom_operations *)operations;
    obx_count_memory(memory);
#if OCAML_VERSION >= 50300
    size_t words = (memory + sizeof(value) - 1) / sizeof(value);
    caml_memprof_sample_block(block, words, words, CAML_MEMPROF_SRC_CUSTOM);
#endif
    return caml_check_urgent_gc(block);
  }
#endif
  return caml_alloc_custom_mem((struct custom_operations *)operations, size, memory);
}
