/* SPDX-License-Identifier: MIT */
/* The expected state: the live roots and the references from the heap, and the object of each. */
#ifndef SHADOW_H
#define SHADOW_H

#include "fake_runtime.h"

/* A value by what does not change about it: an object's number, or an immediate. */
struct thing {
  unsigned object; /* 0: an immediate */
  value immediate;
};

struct shadow_root {
  boxroot root;
  struct thing holds;
};

/* A remote delete that was announced and not posted (remote.c). */
struct shadow_delete {
  struct shadow_root root;
  bool sampled, pushed;
};

enum { ROOTS = 1 << 13, CELLS = 32, DELETES = 8, ALL_DELETES = 64 };

extern struct shadow {
  struct shadow_root roots[ROOTS];
  unsigned root_count;
  struct shadow_delete deletes[ALL_DELETES]; /* some begin in the midst of others */
  unsigned delete_count;
  struct thing cells[CELLS]; /* references from objects that live forever */
  uintptr_t heap[CELLS];     /* the memory of the cells, as the marker sees it */
} shadow;

void shadow_reset(void);

uintptr_t shadow_value(struct thing thing);
bool shadow_is_young(struct thing thing);

void shadow_add(boxroot root, struct thing holds);
/* Forgets a root, and returns it. */
struct shadow_root shadow_take(unsigned index);

/* Changes a reference, with the runtime's own deletion barrier. A domain runs. */
void shadow_set_cell(unsigned cell, struct thing holds);
/* Updates the memory of all cells, when `move` tells where objects have moved. */
void shadow_move_cells(uintptr_t (*move)(uintptr_t));

/* Checks that all roots and cells hold what they should, and that these objects live. */
void shadow_check_values(void);
/* The same, and that these objects are marked. For the end of a cycle. */
void shadow_check_marks(void);
/* Checks that the slots in use are those of live roots, and of deletes that have not been
   posted. */
void shadow_check_counts(void);
/* Checks that the roots in shadow records have samples, and no others. */
void shadow_check_samples(void);
/* Runs boxroot_validate on each domain that is not in `busy`. */
void shadow_check_domains(unsigned busy);

#endif
