/* SPDX-License-Identifier: MIT */
/* Signal handlers, and the stacks that they run on. OCaml 5 runs OCaml code on stacks that it
   allocates, which may be smaller than the frame of a handler. Therefore handlers must run on the
   thread's alternate *signal stack*, as they do with the flag SA_ONSTACK. The handlers of OCaml and
   of Rust's standard library have this flag; most others do not. (threads.c and start.c give signal
   stacks to threads.) */
#define _GNU_SOURCE
#define CAML_NAME_SPACE
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include <caml/version.h>

#include "obx.h"

/* Handlers that walk the stack, such as those of profilers, overflow the usual 8 KiB
   (docs/known-of-ocaml.md). */
#define SIGNAL_STACK (64 << 10)

#if OCAML_VERSION >= 50000
/* Signals for errors that the thread itself causes. */
static int const errors[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};

static bool is_error(int number) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (number == errors[i]) return true;
  return false;
}

/* Whether a signal has a handler. Also returns the signal's action. sa_sigaction, which handlers
   with SA_SIGINFO use, has the same address as sa_handler. */
static bool has_handler(int number, struct sigaction *action) {
  return sigaction(number, NULL, action) == 0 && action->sa_handler != SIG_DFL &&
         action->sa_handler != SIG_IGN;
}

/* One handler must not interrupt another, because a signal stack may only have room for one.
   Signals for errors in the handler itself are not blocked, because their handlers may report the
   error. */
static void block_others(sigset_t *mask) {
  sigfillset(mask);
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) sigdelset(mask, errors[i]);
}

void obx_protect_signals(void) {
  struct sigaction action;
  for (int number = 1; number < NSIG; number++) {
    /* Profilers' handlers need too much stack. */
    if (is_error(number) || number == SIGPROF || !has_handler(number, &action)) continue;
    action.sa_flags |= SA_ONSTACK;
    block_others(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
  }
}

int obx_signal_is_unprotected(int number) {
  struct sigaction action;
  return !is_error(number) && has_handler(number, &action) && !(action.sa_flags & SA_ONSTACK);
}

/* The page below the stack is a guard page. OCaml's own signal stacks have none, and may have only
   8 KiB, like those of Rust's threads. */
int obx_make_signal_stack(void) {
  stack_t stack = {.ss_size = SIGNAL_STACK};
  long least = 0, page = sysconf(_SC_PAGESIZE);
#ifdef _SC_SIGSTKSZ /* on some processors a handler's frame is large */
  least = sysconf(_SC_SIGSTKSZ);
#endif
  if (least > SIGNAL_STACK) stack.ss_size = ((size_t)least + page - 1) & -(size_t)page;
  size_t size = stack.ss_size + page;
  char *memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  stack.ss_sp = memory + page; /* stacks grow downwards on all supported systems */
  if (mprotect(stack.ss_sp, stack.ss_size, PROT_READ | PROT_WRITE) == 0 &&
      sigaltstack(&stack, NULL) == 0)
    return 1;
  (void)munmap(memory, size);
  return 0;
}
#else
void obx_protect_signals(void) {}
int obx_signal_is_unprotected(int number) { return (void)number, 0; }
int obx_make_signal_stack(void) { return 0; }
#endif
