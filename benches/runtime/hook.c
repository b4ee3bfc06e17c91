#include "hook.h"

#if OCAML_VERSION >= 50000
#include <caml/domain_state.h>
#else
#include <caml/minor_gc.h>
#endif

static void (*scan_cells)(struct scan const *);

/* Also calls the previous hook, that of OCaml's own threads for instance. */

#if OCAML_VERSION >= 50000
static scan_roots_hook previous;
static void hook(scanning_action action, scanning_action_flags flags, void *data,
                 caml_domain_state *domain) {
  if (previous != NULL) previous(action, flags, data, domain);
  if (domain->id != 0) return;
  struct scan scan = {flags & SCANNING_ONLY_YOUNG_VALUES, action, data};
  scan_cells(&scan);
}
#else
static void (*previous)(scanning_action);
static void hook(scanning_action action) {
  if (previous != NULL) previous(action);
  struct scan scan = {action == &caml_oldify_one, action, NULL};
  scan_cells(&scan);
}
#endif

void scan_with(void (*function)(struct scan const *)) {
  scan_cells = function;
  previous = caml_scan_roots_hook;
  caml_scan_roots_hook = hook;
}
