/* SPDX-License-Identifier: MIT */
/* Weak roots, for weak.rs. Nothing here raises: OCaml's own functions for weak pointers run signal
   handlers and finalisers, so those that can are not called. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <stdbool.h>

#include <caml/mlvalues.h>

#include <caml/major_gc.h>
#include <caml/memory.h>
#include <caml/version.h>
#include <caml/weak.h>

#if OCAML_VERSION >= 50000
/* Declared in no header. */
extern value caml_ephe_set_key(value ephemeron, value i, value key);
extern value caml_ephe_check_key(value ephemeron, value i);

static value create(void) {
  value ephemeron = caml_alloc_shr(CAML_EPHE_FIRST_KEY + 1, Abstract_tag);
  Ephe_link(ephemeron) = Caml_state->ephe_info->live;
  Caml_state->ephe_info->live = ephemeron;
  for (mlsize_t i = CAML_EPHE_DATA_OFFSET; i <= CAML_EPHE_FIRST_KEY; i++)
    Field(ephemeron, i) = caml_ephe_none;
  return caml_check_urgent_gc(ephemeron);
}

static void set(value ephemeron, value key) {
  (void)caml_ephe_set_key(ephemeron, Val_long(0), key);
}

/* As caml_ephe_get_key, which also makes an option. */
static bool get(value ephemeron, value *key) {
  if (caml_ephe_check_key(ephemeron, Val_long(0)) == Val_false) return false;
  *key = Field(ephemeron, CAML_EPHE_FIRST_KEY);
#if OCAML_VERSION >= 50500 || defined(Is_last_closinfo) /* OxCaml */
  if (!caml_marking_started()) return true;
#endif
  caml_darken(Caml_state, *key, NULL);
  return true;
}
#else
static value create(void) { return caml_check_urgent_gc(caml_ephemeron_create(1)); }
static void set(value ephemeron, value key) { caml_ephemeron_set_key(ephemeron, 0, key); }
static bool get(value ephemeron, value *key) { return caml_ephemeron_get_key(ephemeron, 0, key); }
#endif

/* A weak pointer to the value of a root. May run the GC. */
value obx_alloc_weak(value const *root) {
  value ephemeron = create();
  set(ephemeron, *root);
  return ephemeron;
}

/* Whether the value of the weak pointer is alive, and the value, which lives until the GC runs
   again at least. Does not run the GC. */
int obx_get_weak(value ephemeron, value *key) { return get(ephemeron, key); }
