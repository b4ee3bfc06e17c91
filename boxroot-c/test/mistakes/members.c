/* SPDX-License-Identifier: MIT */
/* A file whose struct members have names of library functions. */
#define BOXROOT_NO_SITES
#include <boxroot.h>

void without_sites(void);

struct roots {
  boxroot (*boxroot_create)(value);
  void (*boxroot_delete)(boxroot);
};

void without_sites(void) {
  struct roots volatile roots = {boxroot_create, boxroot_delete};
  boxroot r = roots.boxroot_create(Val_true); /* without_sites created */
  roots.boxroot_delete(r);                    /* without_sites deleted */
  boxroot_delete(r);                          /* without_sites here */
}
