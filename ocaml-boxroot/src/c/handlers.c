/* SPDX-License-Identifier: MIT */
/* Rust code that OCaml 5 calls below an effect handler, where OCaml runs on a separate stack. The
   stack has a link to the handler's stack, but the link is NULL while C code, or the runtime for a
   finaliser or a signal, calls OCaml on this stack. An unwinder, such as that of Rust's backtraces,
   would follow the link and crash. In this case obx_call_without_caller calls the Rust code and
   tells unwinders that it has no caller. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <caml/mlvalues.h>

#include <caml/version.h>

#if OCAML_VERSION >= 50000
#include <caml/domain_state.h>
#include <caml/fiber.h>
#endif

#include "obx.h"

#if OCAML_VERSION >= 50000 && defined(__ELF__) && defined(__x86_64__) && !defined(__ILP32__)
#define CAN_END_CALL_STACKS 1
#define FUNCTION_TYPE "@function"
#define CALL_WITHOUT_CALLER                                                                        \
  ".cfi_undefined rip\n"                                                                           \
  "  subq $8, %rsp\n"                                                                              \
  ".cfi_adjust_cfa_offset 8\n"                                                                     \
  "  movq %rdi, %rax\n"                                                                            \
  "  movq %rsi, %rdi\n"                                                                            \
  "  call *%rax\n"                                                                                 \
  "  addq $8, %rsp\n"                                                                              \
  ".cfi_adjust_cfa_offset -8\n"                                                                    \
  "  ret\n"
#elif OCAML_VERSION >= 50000 && defined(__ELF__) && defined(__aarch64__) && !defined(__ILP32__)
#define CAN_END_CALL_STACKS 1
#define FUNCTION_TYPE "%function"
#define CALL_WITHOUT_CALLER                                                                        \
  ".cfi_undefined x30\n"                                                                           \
  "  stp x29, x30, [sp, #-16]!\n"                                                                  \
  ".cfi_adjust_cfa_offset 16\n"                                                                    \
  "  mov x9, x0\n"                                                                                 \
  "  mov x0, x1\n"                                                                                 \
  "  blr x9\n"                                                                                     \
  "  ldp x29, x30, [sp], #16\n"                                                                    \
  ".cfi_adjust_cfa_offset -16\n"                                                                   \
  "  ret\n"
#endif

#ifdef CAN_END_CALL_STACKS
__asm__(".pushsection .text\n"
        ".hidden obx_call_without_caller\n"
        ".globl obx_call_without_caller\n"
        ".type obx_call_without_caller, " FUNCTION_TYPE "\n"
        ".p2align 4\n"
        "obx_call_without_caller:\n"
        ".cfi_startproc\n" CALL_WITHOUT_CALLER ".cfi_endproc\n"
        ".size obx_call_without_caller, .-obx_call_without_caller\n"
        ".popsection\n");

/* Whether a link between stacks below this one is NULL. It is if the last stack that the links
   reach is not that of a thread: every other stack has a function that handles the result of the
   code on it. Called with the lock. */
int obx_callers_are_hidden(void) {
  struct stack_info *stack = Caml_state->current_stack;
  if (stack == NULL) return 0;
  while (Stack_parent(stack) != NULL) stack = Stack_parent(stack);
  return Is_block(Stack_handle_value(stack));
}
#else
void obx_call_without_caller(void (*f)(void *), void *argument) { f(argument); }
int obx_callers_are_hidden(void) { return 0; }
#endif
