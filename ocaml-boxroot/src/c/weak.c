/* SPDX-License-Identifier: MIT */
/* Weak roots, for weak.rs. Nothing here raises. OCaml functions that may run signal handlers or
   finalisers, or raise if out of memory, are not called. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <stdatomic.h>
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

static value alloc(mlsize_t size) { return caml_alloc_shr_noexc(size, Abstract_tag); }
static value *list(void) { return &Caml_state->ephe_info->live; }

static void set(value ephemeron, value key) {
  (void)caml_ephe_set_key(ephemeron, Val_long(0), key);
}

/* Whether the runtime may have to clear this key first, or to wait for its promotion. */
#if defined(Is_last_closinfo) /* OxCaml */
#define is_unsettled(key) true
#elif OCAML_VERSION >= 50400
#define is_unsettled(key) (caml_gc_phase == Phase_sweep_ephe || (key) == caml_ephe_locked)
#else
#define is_unsettled(key) (caml_gc_phase == Phase_sweep_ephe)
#endif

/* Like caml_ephe_get_key, but does not allocate an option. */
static bool get(value ephemeron, value *key) {
  atomic_value *place = Op_atomic_val(ephemeron) + CAML_EPHE_FIRST_KEY;
  *key = atomic_load_explicit(place, memory_order_acquire);
  if (is_unsettled(*key)) {
    (void)caml_ephe_check_key(ephemeron, Val_long(0));
    *key = Field(ephemeron, CAML_EPHE_FIRST_KEY);
  }
  if (*key == caml_ephe_none) return false;
#if OCAML_VERSION >= 50500 || defined(Is_last_closinfo) /* OxCaml */
  if (!caml_marking_started()) return true;
#endif
  caml_darken(Caml_state, *key, NULL);
  return true;
}
#else
static value alloc(mlsize_t size) { return caml_alloc_shr_no_track_noexc(size, Abstract_tag); }
static value *list(void) { return &caml_ephe_list_head; }
static void set(value ephemeron, value key) { caml_ephemeron_set_key(ephemeron, 0, key); }
static bool get(value ephemeron, value *key) { return caml_ephemeron_get_key(ephemeron, 0, key); }
#endif

/* A weak pointer to the value of a root, or 0 if out of memory. May run the GC. */
value obx_alloc_weak(value const *root) {
  value ephemeron = alloc(CAML_EPHE_FIRST_KEY + 1);
  if (ephemeron == 0) return 0;
  Field(ephemeron, CAML_EPHE_LINK_OFFSET) = *list();
  *list() = ephemeron;
  Field(ephemeron, CAML_EPHE_DATA_OFFSET) = caml_ephe_none;
  Field(ephemeron, CAML_EPHE_FIRST_KEY) = caml_ephe_none;
  ephemeron = caml_check_urgent_gc(ephemeron);
  set(ephemeron, *root);
  return ephemeron;
}

/* Whether the value of the weak pointer is alive. Also returns the value, which lives at least
   until the GC runs again. Does not run the GC. */
int obx_get_weak(value ephemeron, value *key) { return get(ephemeron, key); }
