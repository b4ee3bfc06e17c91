/* SPDX-License-Identifier: MIT */
/* What the crate cannot write in Rust: weak symbols, macros of the OCaml headers, and
   raising OCaml exceptions, which must not jump over a Rust frame. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <string.h>

#include <caml/mlvalues.h>

#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/fail.h>
#include <caml/memory.h>
#include <caml/version.h>

#if OCAML_VERSION >= 50000
#include <caml/domain.h>
#include <caml/fiber.h>
#endif

#if OCAML_VERSION < 50000
#define caml_alloc_shr_noexc caml_alloc_shr_no_track_noexc
#endif

/* ---- threads ---- */

/* FIND(f) is the function f of the systhreads library, or NULL if the program does not link it.
   Object files other than ELF's have no weak references without flags to the linker. */
typedef int thread_function(void);
#ifdef __ELF__
extern thread_function caml_c_thread_register __attribute__((weak));
extern thread_function caml_c_thread_unregister __attribute__((weak));
#define FIND(f) f
#else
#include <dlfcn.h>
#define FIND(f) ((thread_function *)dlsym(RTLD_DEFAULT, #f))
#endif

/* Whether the Thread module is linked and was initialised. */
int obx_has_threads(void) {
  return FIND(caml_c_thread_register) != NULL && caml_named_value("Thread.at_shutdown") != NULL;
}

/* If it is: 1 if this call registered the thread, 0 if it was registered before or that failed. */
int obx_register_thread(void) { return FIND(caml_c_thread_register)(); }
void obx_unregister_thread(void) { FIND(caml_c_thread_unregister)(); }

/* ---- values ---- */

/* A new string, or 0 if out of memory. Does not raise. May run the GC. */
value obx_alloc_string(char const *bytes, size_t length) {
  mlsize_t words = length / sizeof(value) + 1;
  if (words <= Max_young_wosize) return caml_alloc_initialized_string(length, bytes);
  if (words > Max_wosize) return 0;
  value string = caml_alloc_shr_noexc(words, String_tag);
  if (string == 0) return 0;
  mlsize_t last = words * sizeof(value) - 1;
  Field(string, words - 1) = 0;
  Byte_u(string, last) = (unsigned char)(last - length);
  memcpy(Bp_val(string), bytes, length);
  return caml_check_urgent_gc(string);
}

size_t obx_string_length(value string) { return caml_string_length(string); }

/* A block of 1 to Max_young_wosize fields, which are copied from roots. Does not raise. May run
   the GC. */
value obx_alloc_block(int tag, size_t size, value const *const *fields) {
  value block = caml_alloc_small(size, (tag_t)tag);
  for (size_t i = 0; i < size; i++) Field(block, i) = *fields[i];
  return block;
}

/* A block that the caller fills at once, or 0 if out of memory. Does not raise. May run the GC. */
static value alloc_uninitialised(size_t size, tag_t tag) {
  if (size == 0) return Atom(0);
  if (size <= Max_young_wosize) return caml_alloc_small(size, tag);
  return size > Max_wosize ? 0 : caml_alloc_shr_noexc(size, tag);
}

/* An array of units, or 0. */
value obx_alloc_array(size_t length) {
  value array = alloc_uninitialised(length, 0);
  if (array == 0) return 0;
  for (size_t i = 0; i < length; i++) Field(array, i) = Val_unit;
  return length > Max_young_wosize ? caml_check_urgent_gc(array) : array;
}

void obx_store(value block, size_t i, value v) { caml_modify(&Field(block, i), v); }

value obx_alloc_float(double x) { return caml_copy_double(x); }
double obx_float(value v) { return Double_val(v); }
int obx_is_float(value v) { return Is_block(v) && Tag_val(v) == Double_tag; }

#ifdef FLAT_FLOAT_ARRAY
int const obx_float_arrays_are_flat = 1;
#else
int const obx_float_arrays_are_flat = 0;
#endif

/* An array of floats in their flat form, or 0. */
value obx_alloc_flat_floats(double const *floats, size_t length) {
  if (length > Max_wosize / Double_wosize) return 0;
  value array = alloc_uninitialised(length * Double_wosize, Double_array_tag);
  if (array == 0 || length == 0) return array;
  memcpy((double *)array, floats, length * sizeof(double));
  return length * Double_wosize > Max_young_wosize ? caml_check_urgent_gc(array) : array;
}

size_t obx_size(value block) { return Wosize_val(block); }
int obx_is_flat_floats(value array) { return Tag_val(array) == Double_array_tag; }

/* ---- calls to OCaml ---- */

#if OCAML_VERSION >= 50000
/* The callback functions grow OCaml's stack first, and raise where they were called if that
   fails. Does the same without raising. */
static int grow_stack(void) {
  struct stack_info *stack = Caml_state->current_stack;
  uintnat available = (uintnat)((value *)stack->sp - Stack_base(stack));
  uintnat needed = Stack_threshold / sizeof(value) + 64; /* and what a start of OCaml pushes */
  if (available < needed && !caml_try_realloc_stack(needed)) return 0;
  if (Caml_state->gc_regs_buckets == NULL) {
    /* Memory for OCaml's registers: at most 64 words on any processor. */
    value *bucket = caml_stat_alloc_noexc(64 * sizeof(value));
    if (bucket == NULL) return 0;
    bucket[0] = 0;
    Caml_state->gc_regs_buckets = bucket;
  }
  return 1;
}
#else
static int grow_stack(void) { return 1; }
#endif

/* caml_callbackN_exn, but it never raises: if there is no stack left, the result is an encoded
   exception 0. */
value obx_callback(value closure, int count, value *arguments) {
  if (!grow_stack()) return Make_exception_result((value)0);
  return caml_callbackN_exn(closure, count, arguments);
}

/* ---- the runtime ---- */

/* Whether OCaml was started in this process. */
int obx_is_started(void) {
#if OCAML_VERSION >= 50000
  return caml_named_value("Pervasives.do_at_exit") != NULL;
#else
  return Caml_state != NULL;
#endif
}

/* How many domains run besides the caller's. */
uintnat obx_other_domains(void) {
#if OCAML_VERSION >= 50000
  return !caml_domain_alone();
#else
  return 0;
#endif
}

/* ---- calls from OCaml ---- */

/* Copies the message of the panic that this thread just caught. In Rust. */
extern void ocaml_boxroot_take_panic(char *buffer, size_t size);

/* What a Rust body returned: a value; or an encoded exception (as from the _exn functions),
   which is raised here; or, as exception 0, a panic. The one Rust frame that may be left is that of
   an exported function, which has nothing to drop. */
value ocaml_boxroot_finish(value result) {
  if (!Is_exception_result(result)) return result;
  value exception = Extract_exception(result);
  if (exception != 0) caml_raise(exception);
  char message[512];
  ocaml_boxroot_take_panic(message, sizeof message);
  caml_failwith(message);
}
