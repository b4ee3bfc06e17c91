/* SPDX-License-Identifier: MIT */
/* Rust functions as OCaml closures. OCaml has its own calling convention for closures, so their
   code is a few instructions of assembly, for x86-64 and arm64. On other processors, and in
   bytecode, there are no such closures.

   The fields of a closure are: the code; the arity, 1, and the start of the environment; the box
   with the Rust function; the address of the function that calls it, as an OCaml integer; the
   number of missing arguments; and the arguments so far. To OCaml, each closure has one argument.
   If more than one argument is missing, a call returns a new closure that also has the given
   argument. The call with the last argument runs the function. */
#define CAML_NAME_SPACE
#include <caml/mlvalues.h>

#include <caml/alloc.h>
#include <caml/memory.h>
#include <caml/version.h>

#include "obx.h"

enum { CODE, INFO, BOX, CALL, MISSING, ARGUMENTS };

#define START_OF_ENVIRONMENT BOX
#define MAX_ARGUMENTS 8

/* A copy of the closure with one more argument. Does not raise. May run the GC. */
static value with_argument(value closure, value argument) {
  CAMLparam2(closure, argument);
  mlsize_t size = Wosize_val(closure);
  value more = caml_alloc_small(size + 1, Closure_tag);
  for (mlsize_t i = 0; i < size; i++) Field(more, i) = Field(closure, i);
  Field(more, MISSING) -= 2; /* one less, as an OCaml integer */
  Field(more, size) = argument;
  CAMLreturn(more);
}

/* The assembly below calls this when OCaml calls a closure. The name is hidden from other copies of
   this file, because a closure belongs to the assembly of its own copy. May raise. */
__attribute__((visibility("hidden"))) value obx_apply(value argument, value closure) {
  if (Long_val(Field(closure, MISSING)) > 1) return with_argument(closure, argument);
  value arguments[MAX_ARGUMENTS];
  size_t count = Wosize_val(closure) - ARGUMENTS;
  for (size_t i = 0; i < count; i++) arguments[i] = Field(closure, ARGUMENTS + i);
  arguments[count] = argument;
  obx_call *call = (obx_call *)Long_val(Field(closure, CALL));
  return ocaml_boxroot_finish(call(Field(closure, BOX), arguments, count + 1));
}

/* OCaml's compiled code passes the argument and the closure in its first two argument registers.
   Code that calls C must save the allocation pointer, record where OCaml's stack ends, and restore
   the allocation pointer afterwards. The runtime's caml_c_call does this for the function whose
   address is in a certain register. So the code below jumps to caml_c_call, which returns to OCaml.
   This leaves no frame of ours on OCaml's stack, which the GC could not read. On x86-64 with OCaml
   4, caml_c_call does not restore the allocation pointer, so the code below does all of this
   itself. */
#if defined(__ELF__) && defined(__x86_64__) && !defined(__ILP32__)
#define HAS_CLOSURES 1
#define FUNCTION_TYPE "@function"
#if OCAML_VERSION >= 50000
#define CODE_OF_CLOSURES                                                                           \
  "  movq %rax, %rdi\n" /* the argument */                                                         \
  "  movq %rbx, %rsi\n" /* the closure */                                                          \
  "  movq obx_apply@GOTPCREL(%rip), %rax\n"                                                        \
  "  jmp *caml_c_call@GOTPCREL(%rip)\n"
#else
/* obx_state_NAME is the offset of the field NAME of Caml_state. */
__asm__(".set obx_field, 0\n"
#define DOMAIN_STATE(type, name)                                                                   \
  ".set obx_state_" #name ", obx_field\n.set obx_field, obx_field + 8\n"
#include <caml/domain_state.tbl>
#undef DOMAIN_STATE
);
#define CODE_OF_CLOSURES                                                                           \
  "  movq (%rsp), %r10\n"                                                                          \
  "  movq %r10, obx_state_last_return_address(%r14)\n"                                             \
  "  leaq 8(%rsp), %r10\n"                                                                         \
  "  movq %r10, obx_state_bottom_of_stack(%r14)\n"                                                 \
  "  movq %r15, obx_state_young_ptr(%r14)\n"                                                       \
  "  movq %rax, %rdi\n" /* the argument */                                                         \
  "  movq %rbx, %rsi\n" /* the closure */                                                          \
  "  subq $8, %rsp\n"                                                                              \
  ".cfi_adjust_cfa_offset 8\n"                                                                     \
  "  call *obx_apply@GOTPCREL(%rip)\n"                                                             \
  "  addq $8, %rsp\n"                                                                              \
  ".cfi_adjust_cfa_offset -8\n"                                                                    \
  "  movq obx_state_young_ptr(%r14), %r15\n"                                                       \
  "  ret\n"
#endif
#elif defined(__ELF__) && defined(__aarch64__) && !defined(__ILP32__)
#define HAS_CLOSURES 1
#define FUNCTION_TYPE "%function"
#define CODE_OF_CLOSURES /* the argument and the closure are where C expects them */               \
  "  adrp x8, :got:obx_apply\n"                                                                    \
  "  ldr x8, [x8, :got_lo12:obx_apply]\n"                                                          \
  "  adrp x16, :got:caml_c_call\n"                                                                 \
  "  ldr x16, [x16, :got_lo12:caml_c_call]\n"                                                      \
  "  br x16\n"
#endif

#ifdef HAS_CLOSURES
__asm__(".pushsection .text\n"
        ".weak caml_c_call\n"
        ".hidden obx_closure_code\n"
        ".globl obx_closure_code\n"
        ".type obx_closure_code, " FUNCTION_TYPE "\n"
        ".p2align 4\n"
        "obx_closure_code:\n"
        ".cfi_startproc\n" CODE_OF_CLOSURES ".cfi_endproc\n"
        ".size obx_closure_code, .-obx_closure_code\n"
        ".popsection\n");

/* OxCaml's macro has a third argument: whether the closure is the last one of its block. */
#ifdef Is_last_closinfo
#define CLOSURE_INFO Make_closinfo(1, START_OF_ENVIRONMENT, 1)
#else
#define CLOSURE_INFO Make_closinfo(1, START_OF_ENVIRONMENT)
#endif

extern char obx_closure_code[];
extern void caml_c_call(void) __attribute__((weak)); /* not NULL in native programs */

/* A closure that calls the Rust function in a box, through `call`, once it has `count` arguments.
   The cell `box` is a root of the box. 0 if this program cannot have closures. Does not raise. May
   run the GC. */
value obx_alloc_closure(value const *box, obx_call *call, size_t count) {
  if (caml_c_call == NULL || count > MAX_ARGUMENTS) return 0;
  value closure = caml_alloc_small(ARGUMENTS, Closure_tag);
  Field(closure, CODE) = (value)obx_closure_code;
  Field(closure, INFO) = CLOSURE_INFO;
  Field(closure, BOX) = *box;
  Field(closure, CALL) = Val_long((intnat)call);
  Field(closure, MISSING) = Val_long(count);
  return closure;
}
#else
value obx_alloc_closure(value const *box, obx_call *call, size_t count) {
  (void)box, (void)call, (void)count;
  return 0;
}
#endif
