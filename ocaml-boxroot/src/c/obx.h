/* SPDX-License-Identifier: MIT */
/* C functions that several files of this crate use. Their names begin with obx_, except for the one
   that users see. */
#ifndef OBX_H
#define OBX_H

#include <stddef.h>
#include <stdint.h>

#include <caml/mlvalues.h>

/* The part of a thread's stack in which enough is left: its lower end, and its size, which is 0
   until the stack has been looked for. On a stack that the thread library does not know, that of a
   coroutine, enough is left if so many bytes below can be read. */
struct obx_limit {
  uintptr_t end, size;
  uintptr_t needed;
};

/* obx_has_stack: whether this thread has more than a quarter of its stack left, or 64 KiB of a
   stack that is not the thread's. It also returns the part of the stack in which that holds, of
   size 0 if that is not known.
   obx_has_stack_for_ocaml: whether it also has more left than OCaml's functions may take without
   checking for room. Any thread, at any time. */
int obx_has_stack(uintptr_t *end, uintptr_t *size);
int obx_has_stack_for_ocaml(void);
int obx_has_stack_below(struct obx_limit *limit);
static inline int obx_has_stack_within(struct obx_limit *limit) {
  char here;
  return (uintptr_t)&here - limit->end < limit->size || obx_has_stack_below(limit);
}
extern __attribute__((visibility("hidden"))) __thread struct obx_limit obx_for_ocaml;

/* Has the handlers of signals run on the signal stacks of threads, while no other handler runs
   (OCaml 5). If another thread changes an action meanwhile, that change may be lost. Any thread. */
void obx_protect_signals(void);

/* Whether a signal has a handler that would run on OCaml's stacks. Any thread. */
int obx_signal_is_unprotected(int number);

/* Makes a large signal stack for this thread. Its memory is never freed. 0 if there is none to get,
   or no need (OCaml 4). */
int obx_make_signal_stack(void);

/* Between these two calls, OCaml code gives the lock to threads that wait for it, even if OCaml's
   own ticks do not ensure that yet. Any thread, if OCaml runs. */
void obx_want_ticks(void);
void obx_unwant_ticks(void);

/* Called in the child of a fork. */
void obx_ticks_after_fork(void);

/* Stops the thread that makes OCaml's threads take turns. Runs no OCaml code. Called with the
   lock. */
void obx_stop_ticks(void);

/* Whether the program is bytecode. */
int obx_in_bytecode(void);

/* A new string, or 0 if out of memory. May run the GC. */
value obx_alloc_string(char const *bytes, size_t length);

/* A new custom block of `size` bytes, which owns so much memory elsewhere, or 0 if out of memory.
   May run the GC. */
struct custom_operations;
value obx_alloc_custom(struct custom_operations const *operations, size_t size, size_t memory);

/* The GC will run sooner, as after an allocation of so much memory by such blocks. Does not run
   it. */
void obx_count_memory(size_t memory);

/* Whether this thread drops a Rust value in the finaliser of its block. So it may be inside a
   collection. */
int obx_in_finaliser(void);

/* Calls f, which does not unwind, so that an unwinder does not look for more callers. Needed at
   calls of Rust if obx_callers_are_hidden, which is called with the lock. */
void obx_call_without_caller(void (*f)(void *), void *argument);
int obx_callers_are_hidden(void);

/* Ends a function that OCaml called: raises `result` if it is an encoded exception, else returns
   it. The documentation of DomainLockExt::enter names this function. */
value ocaml_boxroot_finish(value result);

/* ---- defined in Rust ---- */

/* Rust's functions are called by pointers that belong to a box or to a closure, and not by names:
   several Rust libraries of one program may have this crate, each with its own roots, and the
   dynamic linker binds a name to the function of the first. */

/* Calls the Rust function in a box. The result is for ocaml_boxroot_finish. */
typedef value obx_call(value box, value const *arguments, size_t count);

/* The first part of the memory that a box owns, and of the owner of a bigarray's data. */
struct obx_held {
  void (*drop)(struct obx_held *);         /* drops the whole. Does not unwind */
  struct obx_operations const *operations; /* of its type, or NULL */
};

/* How many bytes a function below may write at `text`, if it fails: a string. */
#define OBX_ERROR_SIZE 256

/* What OCaml's polymorphic functions do with a box. NULL is for a function that the type does not
   have. None unwinds. */
struct obx_operations {
  int (*compare)(struct obx_held const *, struct obx_held const *, char *text); /* or OBX_FAILED */
  uint32_t (*hash)(struct obx_held const *);
  unsigned char *(*write)(struct obx_held const *, size_t *length, char *text); /* or NULL */
  void (*free)(unsigned char *bytes, size_t length); /* the result of `write` */
};

#define OBX_FAILED 2

/* The value of the bytes from `write`, without the name; or NULL. */
typedef struct obx_held *obx_read(unsigned char const *bytes, size_t length, char *text);

/* Drops the whole, in a finaliser. */
void obx_drop(struct obx_held *held);

#endif
