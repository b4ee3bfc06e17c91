/* SPDX-License-Identifier: MIT */
/* Private. The part of the fast paths that depends on the OCaml version: may this
   thread touch the domain record that it has cached? */
#ifndef BOXROOT_LOCK_H
#define BOXROOT_LOCK_H

#include <caml/mlvalues.h>
#include <caml/version.h>

#include "names.h"

#if defined(__GNUC__)

#ifdef __cplusplus
extern "C" {
#endif

struct bxr_domain_head;

/* initial-exec: one load from the thread pointer, even in a shared library. Some dynamic linkers
   (musl's) do not open such a library while the program runs. There, compile the library, and all
   files that include this header, with -DBXR_DYNAMIC_TLS. */
#ifdef BXR_DYNAMIC_TLS
#define BXR_TLS_MODEL
#else
#define BXR_TLS_MODEL __attribute__((tls_model("initial-exec")))
#endif
#define BXR_THREAD_LOCAL BXR_TLS_MODEL __thread

/* The domain record of this thread, or &bxr_no_domain. Never NULL. */
extern BXR_THREAD_LOCAL struct bxr_domain_head *bxr_self;

/* The number of this thread's uses of the runtime (host.h). Negative in the child of a fork that
   refuses them. */
extern BXR_THREAD_LOCAL intnat bxr_own_uses;

#if OCAML_VERSION >= 50000

/* OCaml 5. bxr_self is a cache that is never cleared when the lock is released; it
   is valid only while the record belongs to the domain whose lock this thread holds.
   Caml_state is NULL without the lock, and a record's runtime_state never is. */
#include <caml/domain_state.h>
#ifndef Caml_state_opt
#error "boxroot: OCaml 5 with the runtime of OCaml 4: build OxCaml with --enable-runtime5"
#endif
#ifdef HAS_FULL_THREAD_VARIABLES
/* Declared again, so that reading it is one load and not a call, even in position-independent code.
   */
#ifdef CAMLthread_local
extern BXR_TLS_MODEL CAMLthread_local caml_domain_state *caml_state;
#else
extern BXR_THREAD_LOCAL caml_domain_state *caml_state;
#endif
#endif
#define bxr_owner bxr_self
typedef void *bxr_witness;
/* Read it before bxr_self: if Caml_state_opt is a call, few values should be live across it. */
#define BXR_WITNESS() ((void *)Caml_state_opt)
/* Relaxed: a thread without the lock may read the state of its old record while the holder of the
   lock opens or closes that record. The comparison fails in any case, because that thread's
   Caml_state is NULL. */
#define BXR_IS_OPEN(head, witness)                                                                 \
  (__atomic_load_n(&(head)->runtime_state, __ATOMIC_RELAXED) == (witness))

/* The range of the minor heaps of all domains. It changes only while the world is stopped. */
#include <caml/address_class.h>
#define BXR_MINOR_HEAP_START caml_minor_heaps_start
#define BXR_MINOR_HEAP_END caml_minor_heaps_end

#else

#ifdef _WIN32
#error "boxroot: OCaml 4 is not supported on Windows: use OCaml 5"
#endif

/* OCaml 4. The blocking-section hooks set both variables to the only domain's record when this
   thread takes the lock, and to &bxr_no_domain when it releases it. bxr_owner is for delete and
   modify: it stays &bxr_no_domain on threads that may end without passing through a hook, because
   otherwise they would seem to hold the lock in their thread-local destructors. The slow paths know
   better (runtime_ocaml4.c). */
#define bxr_owner BXR_NAME(bxr_owner)
extern BXR_THREAD_LOCAL struct bxr_domain_head *bxr_owner;
typedef int bxr_witness;
#define BXR_WITNESS() 0
#define BXR_IS_OPEN(head, witness) ((void)(head), (void)(witness), 1)

#include <caml/domain_state.h>
#define BXR_MINOR_HEAP_START Caml_state_field(young_start)
#define BXR_MINOR_HEAP_END Caml_state_field(young_end)

#endif

/* Whether v is in the minor heap, or is an immediate that looks like such an address. Most old
   values have lower addresses than the minor heaps, which the runtime reserves first, so the first
   comparison is enough for them. */
inline bool bxr_may_be_young(value v) {
  return (uintptr_t)v >= (uintptr_t)BXR_MINOR_HEAP_START &&
         (uintptr_t)v < (uintptr_t)BXR_MINOR_HEAP_END;
}

#ifdef __cplusplus
}
#endif

#endif /* __GNUC__ */
#endif /* BOXROOT_LOCK_H */
