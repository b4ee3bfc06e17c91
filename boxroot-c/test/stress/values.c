/* SPDX-License-Identifier: MIT */
/* Values of all shapes. The id determines the whole value, so any change is noticed. */
#include "stress.h"

#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/custom.h>
#include <caml/memory.h>

#include <string.h>

enum shape { TUPLE, STRING, DOUBLE, DOUBLES, INT64, LIST, CLOSURE, LAZY, CUSTOM, STATIC, LARGE };

/* Shapes are not equally frequent, because calls of OCaml and large blocks take long. upto: how
   many of 256 values have this shape or an earlier one. */
static enum shape shape_of(uint64_t hash) {
  static uint8_t const upto[] = {120, 165, 185, 200, 210, 225, 229, 233, 245, 254};
  uint8_t x = (uint8_t)hash;
  for (int shape = TUPLE; shape < LARGE; shape++)
    if (x < upto[shape]) return (enum shape)shape;
  return LARGE;
}

/* The word i of the contents of an id: an immediate. */
static inline value word(uint64_t id, uint64_t i) {
  return (value)(((id + i) * 0x9e3779b97f4a7c15u) | 1);
}

/* Small sizes are more frequent. */
static mlsize_t size_of(uint64_t hash) {
  uint32_t a = (hash >> 8) % 40, b = (hash >> 16) % 40;
  return 1 + (a < b ? a : b);
}

static mlsize_t large_size(uint64_t hash) { return 257 + (hash >> 8) % 1000; }
static uint32_t list_length(uint64_t hash) { return 1 + (hash >> 8) % 16; }
static mlsize_t string_length(uint64_t hash) { return (hash >> 8) % 120; }
static double number(uint64_t hash) { return (double)(hash >> 12); }

/* ---- making them ---- */

static value make_tuple(uint64_t id, mlsize_t size) {
  value v = size <= Max_young_wosize ? caml_alloc_small(size, 0) : caml_alloc_shr(size, 0);
  for (mlsize_t i = 0; i < size; i++) Field(v, i) = word(id, i);
  return v;
}

static value make_string(uint64_t id, mlsize_t length) {
  value v = caml_alloc_string(length);
  char *bytes = (char *)Bytes_val(v);
  for (mlsize_t i = 0; i < length; i += sizeof(value)) {
    value w = word(id, i);
    memcpy(bytes + i, &w, length - i < sizeof w ? length - i : sizeof w);
  }
  return v;
}

static value make_doubles(uint64_t hash, mlsize_t size) {
  value v = caml_alloc(size * Double_wosize, Double_array_tag);
  for (mlsize_t i = 0; i < size; i++) Store_double_flat_field(v, i, number(hash) + (double)i);
  return v;
}

static value make_list(uint64_t id, uint32_t length) {
  CAMLparam0();
  CAMLlocal1(list);
  list = Val_emptylist;
  for (uint32_t i = 0; i < length; i++) {
    value cell = caml_alloc_small(2, 0);
    Field(cell, 0) = word(id, i);
    Field(cell, 1) = list;
    list = cell;
  }
  CAMLreturn(list);
}

static struct custom_operations plain = {
  "boxroot.stress.plain",     custom_finalize_default,     custom_compare_default,
  custom_hash_default,        custom_serialize_default,    custom_deserialize_default,
  custom_compare_ext_default, custom_fixed_length_default,
};

static value make_custom(uint64_t id) {
  value v = caml_alloc_custom(&plain, sizeof id, 0, 1);
  memcpy(Data_custom_val(v), &id, sizeof id);
  return v;
}

/* An array of strings that are static data of the program. */
static value statics;

value stress_statics(value array) {
  statics = array;
  caml_register_generational_global_root(&statics);
  return Val_unit;
}

static value call(char const *name, uint64_t id) {
  return caml_callback(*caml_named_value(name), word(id, 0));
}

static bool is_second_closure(uint64_t hash) { return (hash >> 8 & 1) == 0; }

bool is_infix(uint64_t id) {
  uint64_t hash = mix(id);
  return (id & 1) == 0 && shape_of(hash) == CLOSURE && is_second_closure(hash);
}

value make_value(uint64_t id) {
  uint64_t hash = mix(id);
  if (id & 1) return (value)id;
  switch (shape_of(hash)) {
  case TUPLE: return make_tuple(id, size_of(hash));
  case STRING: return make_string(id, string_length(hash));
  case DOUBLE: return caml_copy_double(number(hash));
  case DOUBLES: return make_doubles(hash, size_of(hash));
  case INT64: return caml_copy_int64((int64_t)hash);
  case LIST: return make_list(id, list_length(hash));
  case CLOSURE: return call(is_second_closure(hash) ? "stress.infix" : "stress.closure", id);
  case LAZY: return call((hash >> 8) & 1 ? "stress.lazy" : "stress.forced", id);
  case CUSTOM: return make_custom(id);
  case STATIC: return Field(statics, (hash >> 8) % Wosize_val(statics));
  case LARGE: return make_tuple(id, large_size(hash));
  }
  return Val_unit;
}

/* ---- checking them: the header first, because the block may be free ---- */

static bool is_block(value v, tag_t tag, mlsize_t size) {
  return Is_block(v) && Tag_val(v) == tag && Wosize_val(v) == size;
}

static bool is_tuple(value v, uint64_t id, mlsize_t size) {
  if (!is_block(v, 0, size)) return false;
  for (mlsize_t i = 0; i < size; i++)
    if (Field(v, i) != word(id, i)) return false;
  return true;
}

static bool is_string(value v, uint64_t id, mlsize_t length) {
  if (!is_block(v, String_tag, length / sizeof(value) + 1)) return false;
  if (caml_string_length(v) != length) return false;
  for (mlsize_t i = 0; i < length; i += sizeof(value)) {
    value w = word(id, i);
    if (memcmp(String_val(v) + i, &w, length - i < sizeof w ? length - i : sizeof w)) return false;
  }
  return true;
}

static bool is_doubles(value v, uint64_t hash, mlsize_t size) {
  if (!is_block(v, Double_array_tag, size * Double_wosize)) return false;
  for (mlsize_t i = 0; i < size; i++)
    if (Double_flat_field(v, i) != number(hash) + (double)i) return false;
  return true;
}

static bool is_list(value v, uint64_t id, uint32_t length) {
  while (length-- > 0) {
    if (!is_block(v, 0, 2) || Field(v, 0) != word(id, length)) return false;
    v = Field(v, 1);
  }
  return v == Val_emptylist;
}

static bool is_closure(value v, uint64_t id, bool infix) {
  if (!Is_block(v) || (Tag_val(v) == Infix_tag) != infix) return false;
  if (infix) v -= Infix_offset_val(v);
  return Tag_val(v) == Closure_tag && Wosize_val(v) > 2 &&
         Field(v, Wosize_val(v) - 1) == word(id, 0);
}

static bool is_lazy(value v, uint64_t id) {
  return is_block(v, Lazy_tag, 1) && is_closure(Field(v, 0), id, false);
}

/* The collector may have replaced the lazy value by its result. */
static bool is_forced(value v, uint64_t id) {
  if (is_block(v, Forward_tag, 1)) v = Forward_val(v);
  return is_tuple(v, id, 1);
}

static bool is_custom(value v, uint64_t id) {
  return is_block(v, Custom_tag, 2) && Custom_ops_val(v) == &plain &&
         memcmp(Data_custom_val(v), &id, sizeof id) == 0;
}

static bool is_number(value v, uint64_t hash, enum shape shape) {
  if (shape == DOUBLE)
    return is_block(v, Double_tag, Double_wosize) && Double_val(v) == number(hash);
  return is_block(v, Custom_tag, 2) && Int64_val(v) == (int64_t)hash;
}

static bool is_value(value v, uint64_t id, uint64_t hash) {
  if (id & 1) return v == (value)id;
  switch (shape_of(hash)) {
  case TUPLE: return is_tuple(v, id, size_of(hash));
  case STRING: return is_string(v, id, string_length(hash));
  case DOUBLE: return is_number(v, hash, DOUBLE);
  case DOUBLES: return is_doubles(v, hash, size_of(hash));
  case INT64: return is_number(v, hash, INT64);
  case LIST: return is_list(v, id, list_length(hash));
  case CLOSURE: return is_closure(v, id, is_second_closure(hash));
  case LAZY: return (hash >> 8) & 1 ? is_lazy(v, id) : is_forced(v, id);
  case CUSTOM: return is_custom(v, id);
  case STATIC: return v == Field(statics, (hash >> 8) % Wosize_val(statics));
  case LARGE: return is_tuple(v, id, large_size(hash));
  }
  return false;
}

static char const *const names[] = {
  "a tuple",   "a string",     "a float",        "a float array", "an int64",     "a list",
  "a closure", "a lazy value", "a custom block", "static data",   "a large block"};

char const *wrong_value(value v, uint64_t id) {
  uint64_t hash = mix(id);
  if (is_value(v, id, hash)) return NULL;
  return id & 1 ? "an immediate" : names[shape_of(hash)];
}

/* ---- garbage ---- */

void trash(struct random *r, uint32_t blocks) {
  for (uint32_t i = 0; i < blocks; i++) {
    mlsize_t size = 1 + below(r, 48);
    value v = caml_alloc_shr(size, 0);
    for (mlsize_t j = 0; j < size; j++) Field(v, j) = Val_long(0xdead);
  }
}
