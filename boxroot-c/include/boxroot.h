/* SPDX-License-Identifier: MIT */
/* Boxroot: owning handles that keep OCaml values alive.

   A boxroot owns one OCaml value. The garbage collector treats the value as a
   root, and updates it when it moves, until the boxroot is deleted. Creating,
   reading, changing and deleting a boxroot take constant time, a few
   instructions each in the common case.

   The lock. "The lock" below is the lock of an OCaml domain (OCaml 5) or the
   runtime lock (OCaml 4): what caml_release_runtime_system gives up. A thread
   holds it whenever it runs OCaml code or C code called from OCaml outside a
   blocking section.

   Errors. A function that fails changes nothing, sets errno, and leaves a
   message for boxroot_error_string. No function here raises an OCaml exception,
   runs the garbage collector, or blocks. As for malloc, no function may be called
   in a handler of C's signals, except boxroot_profile_write.

   This file is valid C99 and C++17. */
#ifndef BOXROOT_H
#define BOXROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <caml/mlvalues.h>

#include "boxroot/names.h"

/* The version of the library, for #if: 401 is 0.4.1. */
#define BOXROOT_VERSION_MAJOR 0
#define BOXROOT_VERSION_MINOR 4
#define BOXROOT_VERSION_PATCH 1
#define BOXROOT_VERSION                                                                            \
  (BOXROOT_VERSION_MAJOR * 10000 + BOXROOT_VERSION_MINOR * 100 + BOXROOT_VERSION_PATCH)

/* Users may turn on warnings that headers for both C and C++ cannot avoid. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* boxroot_stats: a struct and a function */
#pragma GCC diagnostic ignored "-Wredundant-decls"
#pragma GCC diagnostic ignored "-Wnull-dereference" /* gcc cannot know that NULL is in no pool */
#if defined(__cplusplus)
#pragma GCC diagnostic ignored "-Wold-style-cast"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuseless-cast"
#endif
#elif defined(__clang__)
#pragma GCC diagnostic ignored "-Wc11-extensions"
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* With GNU C, small functions are inlined. The library also has each of them as a function. */
#if defined(__GNUC_GNU_INLINE__) && !defined(__cplusplus)
#error "boxroot.h needs the inline functions of C99: -std=gnu99 or later, no -fgnu89-inline"
#endif
#if defined(__GNUC__) && (!BOXROOT_CHECKED || defined(BXR_CORE))
#define BOXROOT_INLINE inline
#else
#define BOXROOT_INLINE
#endif

/* For results that must not be ignored: a root would leak, or a handle be stale. */
#if defined(__GNUC__)
#define BOXROOT_NODISCARD __attribute__((warn_unused_result))
#else
#define BOXROOT_NODISCARD
#endif

/* An owned root. NULL owns nothing. */
typedef struct boxroot_private *boxroot;

/* boxroot_create(v) is a new boxroot that owns v.
   Lock: required. Cost: about 15 instructions; a slow path once in a few dozen calls. Do not call
   it in the finaliser of a custom block, where the collector may be at work. A function of
   Gc.finalise is ordinary OCaml code, and may call it. In a hook that runs inside a collection (at
   the end of a minor one, around slices, in a root scan), v must not be a block of the minor heap,
   because the collection has scanned the roots already.
   Failure: NULL, with errno
     EPERM   the lock is not held, the library is not set up (OCaml 4) or is torn
             down, or the call comes from a finaliser that runs inside a root scan.
             OCaml 4: in a thread-local destructor of a thread that Thread.create made, the
             lock is not held, but that is not detected: do not call it there;
     ENOMEM  out of memory; everything that existed still works. */
BOXROOT_NODISCARD BOXROOT_INLINE boxroot boxroot_create(value v);

/* boxroot_create_exn(v) is boxroot_create(v) for stubs, which OCaml code calls: a failure raises
   Out_of_memory, or Failure with the text of boxroot_error_string. */
#define boxroot_create_exn(v) bxr_or_raise(boxroot_create(v))
BOXROOT_NODISCARD boxroot bxr_or_raise(boxroot r);

/* boxroot_get(r) is the value that r owns; r must not be NULL.
   Lock: required. Cost: one load. The result is an ordinary unrooted value: it is
   valid until the next point where the garbage collector may run. In a hook that runs inside a
   collection, do not read a root that another domain made: that domain may be moving the value. */
BOXROOT_INLINE value boxroot_get(boxroot r);

/* boxroot_get_ref(r) is the address where r keeps its value; r must not be NULL.
   Lock: required to read through it. It stays valid until r is deleted or modified.
   Never write through it: use boxroot_modify. */
BOXROOT_INLINE value const *boxroot_get_ref(boxroot r);

/* boxroot_delete(r) gives up r and its value. NULL is a no-op.
   Lock: none. Any thread may call it at any time: another domain, a thread unknown to OCaml, a
   finaliser, after boxroot_teardown, after caml_shutdown. If the program started with
   caml_startup_pooled, boxroot_teardown must come before deletes that follow caml_shutdown, which
   frees all memory of the runtime then. Cost on the domain that owns r: about 15 instructions, or
   25 if r is not in the pool in which the domain creates roots. Cost elsewhere: two or three atomic
   operations. A thread that holds a domain's lock collects deletes of neighbouring roots, so that
   they share these operations, and sends them at its domain's next minor collection at the latest.
   OCaml 5: if the collector still has to mark the root in the current cycle, the delete costs about
   40 instructions, and the root's slot is used again after it has been marked. It never fails.
   Deleting the same boxroot twice is undefined. */
BOXROOT_INLINE void boxroot_delete(boxroot r);

/* boxroot_modify(&r, v) makes r own v instead of its value. It may move the root:
   r itself is updated, and references from boxroot_get_ref are invalid afterwards.
   Lock: required, of any domain. Neither &r nor r may be NULL.
   Failure: false, with errno EPERM or ENOMEM as for boxroot_create; r and its old
   value are intact. */
BOXROOT_NODISCARD BOXROOT_INLINE bool boxroot_modify(boxroot *r, value v);

/* A domain whose lock this thread was seen to hold. The functions below take one, so that they need
   not ask in every call who holds the lock. It is valid until the domain ends. It may be used only
   while this thread holds the domain's lock, and neither in a root scan nor in the finaliser of a
   custom block. OCaml 4 has one domain. */
typedef struct bxr_domain_head *boxroot_domain;

/* The domain whose lock this thread holds. On OCaml 5 this function sets the library up if need be.
   It is enough to call it once in each C function that OCaml calls.
   Lock: required. Failure: NULL, with errno as for boxroot_create. */
BOXROOT_NODISCARD BOXROOT_INLINE boxroot_domain boxroot_domain_self(void);

/* These do the same as boxroot_create, boxroot_delete and boxroot_modify, but do not ask who holds
   the lock, which takes about 6 instructions on OCaml 5. Any domain may delete and modify any root;
   with its own roots this is faster. */
BOXROOT_NODISCARD BOXROOT_INLINE boxroot boxroot_create_in(boxroot_domain domain, value v);
BOXROOT_INLINE void boxroot_delete_in(boxroot_domain domain, boxroot r);
BOXROOT_NODISCARD BOXROOT_INLINE bool boxroot_modify_in(boxroot_domain domain, boxroot *r, value v);

/* Creates roots[i] for values[i], all n of them. Failure: false, with errno as for boxroot_create;
   there is no new root then. */
BOXROOT_NODISCARD bool boxroot_create_many(boxroot_domain domain, boxroot *roots,
                                           value const *values, size_t n);

/* Deletes all n roots; some may be NULL. */
void boxroot_delete_many(boxroot_domain domain, boxroot const *roots, size_t n);

/* Prepares the library. OCaml 4: required before the first create, with the lock held, after the
   Thread module (if the program links it) is initialised, and best before other threads start.
   Boxroot.setup of the OCaml package may also be called before Thread is initialised. OCaml 5:
   allowed, but never needed, because the first create does it. Returns true if the library is set
   up already. Failure: false, with errno
     EPERM   the lock is not held (on OCaml 4 this cannot be detected), or the library is torn
             down or invalid (see below);
     ENOMEM  out of memory. */
BOXROOT_INLINE bool boxroot_setup(void);

/* Ends the use of the library, and gives its memory back, except pools that hold roots. A pool that
   the collector may be marking is given back at the start of the next major cycle, if there is one.
   Call it before caml_shutdown, with the lock, and neither in a finaliser of a custom block nor in
   a hook of the collector, or after caml_shutdown. A second call does nothing. No other domain may
   be running, and no other thread may be creating, reading or modifying boxroots. Afterwards create
   and modify fail, live boxroots are no longer roots and must not be read, and deleting them
   remains safe from any thread. */
void boxroot_teardown(void);

enum boxroot_state {
  BOXROOT_NOT_SETUP = 0, /* boxroot_setup has not run yet */
  BOXROOT_RUNNING = 1,
  BOXROOT_TORE_DOWN = 2, /* boxroot_teardown has run */
  BOXROOT_INVALID = 3    /* OCaml 4: the Thread module was initialised after
                            boxroot_setup; live roots are kept, create fails. Or: another,
                            different copy of the library hides this one's names (README.md). Or
                            the program's OCaml is not of the version of the library's */
};

/* Whether this thread holds the lock. False where that is not certain: on a backup thread of the
   runtime, and, on OCaml 4, before boxroot_setup and on threads that boxroot_trim does nothing on.
   False after boxroot_teardown. Any thread; but not after caml_shutdown without boxroot_teardown,
   and not in thread-local destructors of a thread that never made a root. */
bool boxroot_lock_is_held(void);

/* The state of the library, one of the constants above. Any thread. */
int boxroot_status(void);

/* A message for people about the last failure on this thread: what went wrong and
   what to do. Never NULL; the string is static. Any thread. */
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
#pragma GCC diagnostic pop
#endif

#endif /* BOXROOT_H */
