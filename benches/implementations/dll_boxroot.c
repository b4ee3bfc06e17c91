/* dll_boxroot: roots in two circular doubly linked lists, a young one and an old one. A minor
   collection scans the young list, and moves its nodes to the old one. For a single domain. */
#include "../runtime/hook.h"

#include <stdlib.h>

#include <caml/address_class.h>
#include <caml/minor_gc.h>

#include "../runtime/implementation.h"

/* A cell is the address of its node. */
struct node {
  value value;
  struct node *previous, *next;
};

static struct node young = {Val_unit, &young, &young}, old = {Val_unit, &old, &old};
static struct node *free_nodes; /* linked by next */

enum { CHUNK = 1000 };

static void add_chunk(void) {
  struct node *chunk = malloc(CHUNK * sizeof *chunk);
  if (chunk == NULL) abort();
  for (int i = 0; i < CHUNK; i++) {
    chunk[i].next = free_nodes;
    free_nodes = &chunk[i];
  }
}

static void link_young(struct node *node) {
  node->previous = &young;
  node->next = young.next;
  young.next->previous = node;
  young.next = node;
}

static void unlink_node(struct node *node) {
  node->previous->next = node->next;
  node->next->previous = node->previous;
}

static cell dll_boxroot_new_cell(value v) {
  if (free_nodes == NULL) add_chunk();
  struct node *node = free_nodes;
  free_nodes = node->next;
  node->value = v;
  link_young(node);
  return &node->value;
}

static void dll_boxroot_delete_cell(cell c) {
  struct node *node = (struct node *)c;
  unlink_node(node);
  node->next = free_nodes;
  free_nodes = node;
}

static cell dll_boxroot_modify_cell(cell c, value v) {
  struct node *node = (struct node *)c;
  if (Is_block(v) && Is_young(v) && !(Is_block(*c) && Is_young(*c))) {
    unlink_node(node);
    link_young(node);
  }
  *c = v;
  return c;
}

static void scan_list(struct scan const *scan, struct node *list) {
  for (struct node *node = list->next; node != list; node = node->next)
    if (Is_block(node->value)) scan_word(scan, &node->value);
}

static void scan(struct scan const *scan) {
  scan_list(scan, &young);
  if (!scan->minor) {
    scan_list(scan, &old);
  } else if (young.next != &young) {
    young.previous->next = old.next;
    old.next->previous = young.previous;
    old.next = young.next;
    young.next->previous = &old;
    young.previous = young.next = &young;
  }
}

static void dll_boxroot_prepare(void) { scan_with(scan); }

#define CELL(name) dll_boxroot_##name
#define CELL_NAME "dll_boxroot"
#include "../runtime/cell.h"
