/* SPDX-License-Identifier: MIT */
/* C functions that several files of this crate use. Their names begin with obx_, except for the
   public one. */
#ifndef OBX_H
#define OBX_H

#include <stddef.h>
#include <stdint.h>

#include <caml/mlvalues.h>

/* The part of a thread's stack in which enough is left: its lower end and its size, which is 0
   until the stack has been found. On a stack that the thread library does not know, such as a
   coroutine's, enough is left if `needed` bytes below can be read. */
struct obx_limit {
  uintptr_t end, size;
  uintptr_t needed;
};

/* obx_has_stack: whether this thread has more than a quarter of its stack left, or 64 KiB of a
   stack that is not its own. It also returns the part of the stack in which that holds, or the size
   0 if unknown.
   obx_has_stack_for_ocaml: whether the thread also has more left than OCaml's functions may use
   without checking. Both are for any thread, at any time. */
int obx_has_stack(uintptr_t *end, uintptr_t *size);
int obx_has_stack_for_ocaml(void);
int obx_has_stack_below(struct obx_limit *limit);
static inline int obx_has_stack_within(struct obx_limit *limit) {
  char here;
  return (uintptr_t)&here - limit->end < limit->size || obx_has_stack_below(limit);
}
extern __attribute__((visibility("hidden"))) __thread struct obx_limit obx_for_ocaml;

/* Makes signal handlers run on the threads' alternate signal stacks, one at a time (OCaml 5). If
   another thread changes the action for a signal at the same time, that change may be lost. Any
   thread. */
void obx_protect_signals(void);

/* Whether a signal has a handler that would run on OCaml's stacks. Any thread. */
int obx_signal_is_unprotected(int number);

/* Makes a large signal stack for this thread. Its memory is never freed. Returns 0 if out of
   memory, or if none is needed (OCaml 4). */
int obx_make_signal_stack(void);

/* Between these two calls, OCaml code gives the lock to threads that wait for it, even if OCaml's
   tick thread does not ensure that yet. Any thread, if OCaml was started. */
void obx_want_ticks(void);
void obx_unwant_ticks(void);

/* Called in the child of a fork. */
void obx_ticks_after_fork(void);

/* Stops OCaml's tick thread, which makes OCaml's threads take turns. Runs no OCaml code. Needs the
   lock. */
void obx_stop_ticks(void);

/* Whether the program is bytecode. */
int obx_in_bytecode(void);

/* From now on, `exit` in OCaml does not free the heap. Called with the lock of any domain, perhaps
   on several threads at once. */
void obx_keep_heap(void);

/* A new string, or 0 if out of memory. May run the GC. */
value obx_alloc_string(char const *bytes, size_t length);

/* A new custom block of `size` bytes, which owns `memory` bytes elsewhere, or 0 if out of memory.
   May run the GC. */
struct custom_operations;
value obx_alloc_custom(struct custom_operations const *operations, size_t size, size_t memory);

/* Makes the GC run sooner, as if custom blocks had allocated `memory` bytes. Does not run it. */
void obx_count_memory(size_t memory);

/* Whether this thread is dropping a Rust value in the finaliser of its block. If so, this may be
   inside a collection. */
int obx_in_finaliser(void);

/* Calls f, which does not unwind, from a frame at which unwinders stop. Calls of Rust need this if
   obx_callers_are_hidden returns 1. That function needs the lock. */
void obx_call_without_caller(void (*f)(void *), void *argument);
int obx_callers_are_hidden(void);

/* Ends a function that OCaml called: raises `result` if it is an encoded exception, otherwise
   returns it. The documentation of DomainLockExt::enter names this function. */
value ocaml_boxroot_finish(value result);

/* ---- defined in Rust ---- */

/* C calls Rust functions through pointers in a box or a closure, not by name. A program may have
   several Rust libraries with this crate, each with its own roots, and the dynamic linker would
   bind a name to the function of the first library. */

/* Calls the Rust function in a box. The result must go to ocaml_boxroot_finish. */
typedef value obx_call(value box, value const *arguments, size_t count);

/* The first part of the memory that a box owns, or that owns a bigarray's data. */
struct obx_held {
  void (*drop)(struct obx_held *);         /* drops all of it. Does not unwind */
  struct obx_operations const *operations; /* of its type, or NULL */
};

/* The size of `text`, to which a function below writes a string if it fails. */
#define OBX_ERROR_SIZE 256

/* What OCaml's polymorphic functions do with a box. A function is NULL if the type does not have
   it. None of them unwinds. */
struct obx_operations {
  int (*compare)(struct obx_held const *, struct obx_held const *, char *text); /* or OBX_FAILED */
  uint32_t (*hash)(struct obx_held const *);
  unsigned char *(*write)(struct obx_held const *, size_t *length, char *text); /* or NULL */
  void (*free)(unsigned char *bytes, size_t length); /* the result of `write` */
};

#define OBX_FAILED 2

/* Makes a value from the bytes of `write` without the name. Returns NULL on failure. */
typedef struct obx_held *obx_read(unsigned char const *bytes, size_t length, char *text);

/* Drops all of it, in a finaliser. */
void obx_drop(struct obx_held *held);

#endif
