/* rem_boxroot: a root that is created with, or changed to, a value of the minor heap is added to
   OCaml's remembered set, which minor collections scan anyway; the hook scans only for major
   collections. Free slots hold links that look like integers, so an entry of the remembered set is
   harmless after its root was deleted. Memory is never given back, because such an entry must not
   point to unmapped memory. For a single domain. */
#include "../runtime/hook.h"

#include <stdlib.h>

#include <caml/address_class.h>
#include <caml/minor_gc.h>

#include "../runtime/implementation.h"

enum { POOL = 2000 };

struct pool {
  struct pool *next;
  value slots[POOL];
};

static struct pool *pools;
static value first_free = 1; /* a link: the address of a free slot, or NULL, plus 1 */

static void add_pool(void) {
  struct pool *pool = malloc(sizeof *pool);
  if (pool == NULL) abort();
  pool->next = pools;
  pools = pool;
  for (int i = POOL - 1; i >= 0; i--) {
    pool->slots[i] = first_free;
    first_free = (value)&pool->slots[i] + 1;
  }
}

static void remember(cell c) {
#if OCAML_VERSION >= 50000
  Ref_table_add(&Caml_state->minor_tables->major_ref, c);
#else
  add_to_ref_table(Caml_state->ref_table, c);
#endif
}

static cell rem_boxroot_new_cell(value v) {
  if (first_free == 1) add_pool();
  cell c = (cell)(first_free - 1);
  first_free = *c;
  *c = v;
  if (Is_block(v) && Is_young(v)) remember(c);
  return c;
}

static void rem_boxroot_delete_cell(cell c) {
  *c = first_free;
  first_free = (value)c + 1;
}

static cell rem_boxroot_modify_cell(cell c, value v) {
  if (Is_block(v) && Is_young(v) && !(Is_block(*c) && Is_young(*c))) remember(c);
  *c = v;
  return c;
}

static void scan(struct scan const *scan) {
  if (scan->minor) return;
  for (struct pool *pool = pools; pool != NULL; pool = pool->next)
    for (int i = 0; i < POOL; i++)
      if (Is_block(pool->slots[i])) scan_word(scan, &pool->slots[i]);
}

static void rem_boxroot_prepare(void) { scan_with(scan); }

#define CELL(name) rem_boxroot_##name
#define CELL_NAME "rem_boxroot"
#include "../runtime/cell.h"
