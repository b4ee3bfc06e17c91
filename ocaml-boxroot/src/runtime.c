/* SPDX-License-Identifier: MIT */
/* Whether OCaml was started, and its shutdown. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <caml/mlvalues.h>

#include <caml/callback.h>
#include <caml/startup_aux.h>
#include <caml/version.h>

#if OCAML_VERSION >= 50000
#include <caml/domain.h>
#endif

/* Whether OCaml was started in this process. */
int obx_is_started(void) {
#if OCAML_VERSION >= 50000
  return caml_named_value("Pervasives.do_at_exit") != NULL;
#else
  return Caml_state != NULL;
#endif
}

/* Under OCAMLRUNPARAM=c, `exit` in OCaml frees the heap, as shutting the runtime down does. But Rust code still runs after
   that, in thread-local destructors and on other threads. So this starts the runtime a second time: OCaml only counts
   the starts, and keeps the heap until it was shut down as many times. Called with the lock. */
static int is_kept;

void obx_keep_heap(void) {
#if OCAML_VERSION >= 50000
  int exit_frees = caml_params->cleanup_on_exit != 0;
#else
  int exit_frees = caml_cleanup_on_exit;
#endif
  if (!exit_frees || is_kept) return;
  is_kept = 1;
  caml_startup_aux(0);
}

void obx_shut_down(void) {
  if (is_kept) caml_shutdown();
  caml_shutdown();
}

/* 1 if other domains run besides the caller's, else 0. Called with the lock. */
uintnat obx_other_domains(void) {
#if OCAML_VERSION >= 50000
  return !caml_domain_alone();
#else
  return 0;
#endif
}
