/* SPDX-License-Identifier: MIT */
/* Calls of OCaml from Rust, OCaml's exceptions, and the return from Rust to OCaml. This code is in
   C because OCaml's exceptions must not jump over a Rust frame. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <caml/mlvalues.h>

#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/fail.h>
#include <caml/memory.h>
#include <caml/version.h>

#if OCAML_VERSION >= 50000
#include <caml/fiber.h>
#endif

#include "obx.h"

#ifndef __ELF__
#include <dlfcn.h>
#endif

/* ---- exceptions ---- */

/* OCaml's predefined exceptions, in the order of <caml/fail.h>. Native programs have a symbol for
   each constructor; bytecode programs have an array of the constructors, in this order. */
/* clang-format off */
#define FOR_EACH_EXCEPTION(DO) \
  DO(Out_of_memory) \
  DO(Sys_error) \
  DO(Failure) \
  DO(Invalid_argument) \
  DO(End_of_file) \
  DO(Division_by_zero) \
  DO(Not_found) \
  DO(Match_failure) \
  DO(Stack_overflow) \
  DO(Sys_blocked_io) \
  DO(Assert_failure) \
  DO(Undefined_recursive_module)
/* clang-format on */

#define NUMBER(name) name##_number,
enum { FOR_EACH_EXCEPTION(NUMBER) };

#ifdef __ELF__
extern value caml_global_data __attribute__((weak));
#define DECLARE(name) extern char caml_exn_##name[] __attribute__((weak));
FOR_EACH_EXCEPTION(DECLARE)
#define SYMBOL(name) caml_exn_##name,
#define GLOBAL_DATA (&caml_global_data)
#define ADDRESS(symbol) (symbol)
#else
#define SYMBOL(name) "caml_exn_" #name,
#define GLOBAL_DATA ((value *)dlsym(RTLD_DEFAULT, "caml_global_data"))
#define ADDRESS(symbol) dlsym(RTLD_DEFAULT, symbol)
#endif

/* The constructor of the predefined exception with this number. */
static inline value predefined(int number) {
  static char const *const symbols[] = {FOR_EACH_EXCEPTION(SYMBOL)};
  value native = (value)ADDRESS(symbols[number]);
  if (native != 0) return native;
  return GLOBAL_DATA != NULL ? Field(*GLOBAL_DATA, number) : 0;
}

int obx_in_bytecode(void) { return GLOBAL_DATA != NULL; }

value obx_predefined_exception(int number) { return predefined(number); }

#define PREDEFINED(name) predefined(name##_number)
#define ENCODED(name) Make_exception_result(PREDEFINED(name))

/* The exception Failure with this text, encoded; Out_of_memory if there is no memory for it. Does
   not raise. May run the GC. */
value obx_failure(char const *text, size_t length) {
  CAMLparam0();
  CAMLlocal1(string);
  string = obx_alloc_string(text, length);
  if (string == 0) CAMLreturn(ENCODED(Out_of_memory));
  value exception = caml_alloc_small(2, 0);
  /* After the allocations: in bytecode, a compaction moves the constructor. */
  Field(exception, 0) = PREDEFINED(Failure);
  Field(exception, 1) = string;
  CAMLreturn(Make_exception_result(exception));
}

/* ---- calls to OCaml ---- */

#if OCAML_VERSION >= 50000
/* 64 words of this are for the data that OCaml pushes for a callback. */
enum { NEEDED = Stack_threshold / sizeof(value) + 64 };

static inline uintnat ocaml_stack_left(struct stack_info *stack) {
  return (uintnat)((value *)stack->sp - Stack_base(stack));
}

static __attribute__((noinline, cold)) int grow_stack(void) {
  if (ocaml_stack_left(Caml_state->current_stack) < NEEDED && !caml_try_realloc_stack(NEEDED))
    return 0;
  if (Caml_state->gc_regs_buckets == NULL) {
    /* Memory for OCaml's registers: at most 64 words on any processor. */
    value *bucket = caml_stat_alloc_noexc(64 * sizeof(value));
    if (bucket == NULL) return 0;
    bucket[0] = 0;
    Caml_state->gc_regs_buckets = bucket;
  }
  return 1;
}

/* OCaml's callback functions grow OCaml's stack if necessary, and raise if that fails. This
   function grows it beforehand, so that they need not. Returns 0 if that fails. Does not raise. */
static inline int has_ocaml_stack(void) {
  caml_domain_state *state = Caml_state;
  return (ocaml_stack_left(state->current_stack) >= NEEDED && state->gc_regs_buckets != NULL) ||
         grow_stack();
}
#else
static inline int has_ocaml_stack(void) { return 1; }
#endif

/* Like caml_callbackN_exn and caml_callback_exn, but these never raise: if too little of C's or
   OCaml's stack is left, they return the encoded exception Stack_overflow. The local root matters
   in coroutines: an exception that ends a callback removes the local roots at lower addresses than
   the callback, which may belong to the stack that waits for the coroutine. OCaml stops at the
   first local root with a higher address, such as that of these functions. */
value obx_callback(value closure, int count, value *arguments) {
  if (!obx_has_stack_within(&obx_for_ocaml) || !has_ocaml_stack()) return ENCODED(Stack_overflow);
  CAMLparam1(closure);
  value result = caml_callbackN_exn(closure, count, arguments);
  CAMLreturn(result);
}

value obx_callback1(value closure, value argument) {
  if (!obx_has_stack_within(&obx_for_ocaml) || !has_ocaml_stack()) return ENCODED(Stack_overflow);
  CAMLparam1(closure);
  value result = caml_callback_exn(closure, argument);
  CAMLreturn(result);
}

/* ---- calls from OCaml ---- */

/* `result` is from a Rust body. If it is a value, this returns it; if it is an encoded exception
   (as from the _exn functions), this raises it. The exception jumps over at most one Rust frame,
   that of an exported function, which has nothing to drop. */
value ocaml_boxroot_finish(value result) {
  if (!Is_exception_result(result)) return result;
  caml_raise(Extract_exception(result));
}
