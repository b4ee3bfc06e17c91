/* SPDX-License-Identifier: MIT */
/* The expected state: the live roots and the references from the heap, and the object of each. */
#ifndef SHADOW_H
#define SHADOW_H

#include "fake_runtime.h"

/* The part of a value that never changes: an object's number, or an immediate. */
struct thing {
  unsigned object; /* 0: an immediate */
  value immediate;
};

struct shadow_root {
  boxroot root;
  struct thing holds;
};

/* A remote delete that was announced but not posted (remote.c). */
struct shadow_delete {
  struct shadow_root root;
  bool sampled, pushed;
};

enum { ROOTS = 1 << 13, CELLS = 32, DELETES = 8, ALL_DELETES = 64 };

extern struct shadow {
  struct shadow_root roots[ROOTS];
  unsigned root_count;
  struct shadow_delete deletes[ALL_DELETES]; /* some begin during others */
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

/* Changes a reference, with the runtime's own deletion barrier. Called while a domain runs. */
void shadow_set_cell(unsigned cell, struct thing holds);
/* Updates the memory of all cells after objects have moved. `move` returns the new addresses. */
void shadow_move_cells(uintptr_t (*move)(uintptr_t));

/* Checks that all roots and cells hold the right objects, and that these are alive. */
void shadow_check_values(void);
/* Also checks that these objects are marked. For the end of a cycle. */
void shadow_check_marks(void);
/* Checks that only live roots, and deletes that have not been posted, use slots. */
void shadow_check_counts(void);
/* Checks that the roots in shadow records have samples, and that no other roots have. */
void shadow_check_samples(void);
/* Runs boxroot_validate on each domain that is not in `busy`. */
void shadow_check_domains(unsigned busy);

#endif
