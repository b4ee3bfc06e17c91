/* SPDX-License-Identifier: MIT */
/* Boxroot: owning handles that keep OCaml values alive. This file is valid C99 and C++17.

   A boxroot owns one OCaml value. The garbage collector treats the value as a root, and updates it
   when it moves, until the boxroot is deleted. All operations take constant time.

   The lock. "The lock" is that of an OCaml domain (OCaml 5) or of the runtime (OCaml 4): the lock
   that caml_release_runtime_system releases. A thread holds it whenever it runs OCaml code, or C
   code called from OCaml outside a blocking section.

   Words. Roots lie in pools. A pool belongs to one domain: the domain that made the roots or, after
   that domain's end, another. A hook is a function that the runtime calls while it collects
   garbage.

   Errors. A function that fails changes no root, sets errno, and leaves a message for
   boxroot_error_string. No function here blocks, runs the garbage collector or raises an OCaml
   exception, except that boxroot_create_exn raises one. As with malloc, do not call them in a
   signal handler of C, except boxroot_profile_write, which leaves no message. */
#ifndef BOXROOT_H
#define BOXROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <caml/mlvalues.h>

#include "boxroot/compiler.h"
#include "boxroot/names.h"

/* The version of the library, for #if: 401 is 0.4.1. */
#define BOXROOT_VERSION_MAJOR 0
#define BOXROOT_VERSION_MINOR 4
#define BOXROOT_VERSION_PATCH 1
#define BOXROOT_VERSION                                                                            \
  (BOXROOT_VERSION_MAJOR * 10000 + BOXROOT_VERSION_MINOR * 100 + BOXROOT_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* An owned root. NULL owns nothing. */
typedef struct boxroot_private *boxroot;

/* boxroot_create(v) is a new boxroot that owns v. Lock: required. Cost: about 15 instructions; a
   slow path at most once in 16 calls. Do not call it in the finaliser of a custom block, where the
   collector may be at work. (A Gc.finalise function is ordinary OCaml code, and may call it.) In a
   hook that runs inside a collection (at the end of a minor one, around slices, in a root scan), v
   must not be a block of the minor heap, because the collection has scanned the roots already.
   OCaml 4: do not call it in a thread-local destructor of a Thread.create thread, which no longer
   holds the lock: the library cannot tell. Failure: NULL, with errno
     EPERM   the lock is not held, the library is not set up (OCaml 4), torn down or invalid (see
             below), or the call comes from a finaliser that runs inside a root scan;
     ENOMEM  out of memory; everything that existed still works. */
BOXROOT_NODISCARD BOXROOT_INLINE boxroot boxroot_create(value v);

/* boxroot_create_exn(v) is boxroot_create(v) for stubs, which OCaml code calls: a failure raises
   Out_of_memory, or Failure with the text of boxroot_error_string. */
#define boxroot_create_exn(v) bxr_or_raise(boxroot_create(v))
BOXROOT_NODISCARD boxroot bxr_or_raise(boxroot r);

/* boxroot_get(r) is the value that r owns; r must not be NULL.
   Lock: required. Cost: one load. The result is an ordinary unrooted value, which is valid until
   the garbage collector may run next. In a hook that runs inside a collection, do not read a root
   that another domain made: that domain may be moving the value. */
BOXROOT_INLINE value boxroot_get(boxroot r);

/* boxroot_get_ref(r) is the address where r keeps its value, until r is deleted or modified. r must
   not be NULL. Lock: required to read through it. Never write through it: use boxroot_modify. */
BOXROOT_INLINE value const *boxroot_get_ref(boxroot r);

/* boxroot_delete(r) gives up r and its value. NULL is a no-op. Never fails. Deleting the same
   boxroot twice is undefined behaviour.
   Lock: none. Any thread may call it at any time: another domain, a thread unknown to OCaml, a
   finaliser, after boxroot_teardown, after caml_shutdown. (If the program started with
   caml_startup_pooled, caml_shutdown frees all memory: call boxroot_teardown before it.) Cost on
   the domain that owns r: about 15 instructions, or 25 if r is not in the domain's current pool.
   Elsewhere: two or three atomic operations, which deletes of neighbouring roots share if the
   thread holds a lock. OCaml 5: about 40 instructions if the collector still has to mark the root
   in the current cycle. */
BOXROOT_INLINE void boxroot_delete(boxroot r);

/* boxroot_modify(&r, v) makes r own v instead of its value. It may move the root, and then updates
   r. References from boxroot_get_ref are invalid afterwards in any case.
   Lock: required, of any domain. Neither &r nor r may be NULL. The rules of boxroot_create about
   finalisers, hooks and destructors hold for modify.
   Failure: false, with errno as for boxroot_create; r and its old value are intact. */
BOXROOT_NODISCARD BOXROOT_INLINE bool boxroot_modify(boxroot *r, value v);

/* Proof that this thread holds a domain's lock. Functions that take it skip the check. It is valid
   until the domain ends. Use it only while this thread holds the domain's lock, and neither in a
   root scan nor in the finaliser of a custom block. OCaml 4 has one domain. */
typedef struct bxr_domain_head *boxroot_domain;

/* The domain whose lock this thread holds. Call it once in each C function that OCaml calls. Lock:
   required. Failure: NULL, with errno as for boxroot_create. */
BOXROOT_NODISCARD BOXROOT_INLINE boxroot_domain boxroot_domain_self(void);

/* The same as boxroot_create, boxroot_delete and boxroot_modify, without the check, which takes
   about 6 instructions on OCaml 5. The domain is the caller's; the root may belong to any
   domain. */
BOXROOT_NODISCARD BOXROOT_INLINE boxroot boxroot_create_in(boxroot_domain domain, value v);
BOXROOT_INLINE void boxroot_delete_in(boxroot_domain domain, boxroot r);
BOXROOT_NODISCARD BOXROOT_INLINE bool boxroot_modify_in(boxroot_domain domain, boxroot *r, value v);

/* Creates roots[i] for values[i], all n of them. Failure: false, with errno as for boxroot_create;
   there is no new root then, and roots[] must not be used. */
BOXROOT_NODISCARD bool boxroot_create_many(boxroot_domain domain, boxroot *roots,
                                           value const *values, size_t n);

/* Deletes all n roots; some may be NULL. */
void boxroot_delete_many(boxroot_domain domain, boxroot const *roots, size_t n);

/* Prepares the library. Returns true if it is set up, by this call or an earlier one. OCaml 5:
   never needed. OCaml 4: required before the first create, with the lock held, and best before
   other threads start. If the program links the Thread module, call it after that module's
   initialisation; Boxroot.setup of the OCaml package also works before it. Failure: false, with
   errno
     EPERM   the lock is not held (on OCaml 4 this cannot be detected), or the library is torn down
             or invalid (see below);
     ENOMEM  out of memory. */
BOXROOT_INLINE bool boxroot_setup(void);

/* Ends the use of the library, and unmaps its pools, except those that hold roots. A pool that the
   collector may be marking is unmapped when the next major cycle starts, if there is one. Call it
   with the lock before caml_shutdown, but neither in a finaliser of a custom block nor in a hook.
   It may also be called after caml_shutdown, but see boxroot_delete. No other domain may be
   running, and no other thread may be using boxroots. Afterwards create and modify fail, and live
   boxroots are no longer roots: delete them on any thread, and do not read them. */
void boxroot_teardown(void);

enum boxroot_state {
  BOXROOT_NOT_SETUP = 0, /* nothing has set the library up yet */
  BOXROOT_RUNNING = 1,
  BOXROOT_TORE_DOWN = 2, /* boxroot_teardown has run */
  BOXROOT_INVALID = 3    /* create fails, live roots are kept: a different copy of the library
                            hides this one's symbols (README.md), the library was compiled for
                            another version of OCaml, or, on OCaml 4, the Thread module was
                            initialised after boxroot_setup */
};

/* Whether this thread holds the lock. False if the library is not certain. On OCaml 5, that is the
   case on a backup thread of the runtime, and on a thread that blocks SIGSEGV and has made no root;
   on OCaml 4, before boxroot_setup, and on threads on which boxroot_trim does nothing. False after
   boxroot_teardown. Any thread may call it, except after caml_shutdown without boxroot_teardown,
   and in thread-local destructors of a thread that never made a root. */
bool boxroot_lock_is_held(void);

/* The state of the library, one of the constants above. Any thread. */
int boxroot_status(void);

/* A message about the last failure on this thread, with its cause and a remedy. Never NULL; the
   string is static. Any thread. */
char const *boxroot_error_string(void);

#ifdef __cplusplus
}
#endif

#include "boxroot/debug.h"

#if BOXROOT_CHECKED && !defined(BXR_CORE)
#include "boxroot/checked.h"
#else
#include "boxroot/inline.h"
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic pop /* compiler.h */
#endif

#endif /* BOXROOT_H */
