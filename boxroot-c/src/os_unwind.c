/* SPDX-License-Identifier: MIT */
/* Support for unwinders on Linux with musl. Debian's musl-gcc links the unwinder of a gcc that was
   made for glibc, and makes a table of frames only if it is told to (-Wl,--eh-frame-hdr). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "os.h"

#if defined(__linux__) && !defined(__GLIBC__)
#include <link.h>

struct search {
  uintptr_t address;
  void *table;
};

/* Returns 1, which ends the search, if the address is in this object. */
static int search_object(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  struct search *search = data;
  void *table = NULL;
  int is_here = 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    ElfW(Phdr) const *part = &object->dlpi_phdr[i];
    uintptr_t start = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) table = (void *)start;
    if (part->p_type == PT_LOAD && search->address - start < part->p_memsz) is_here = 1;
  }
  if (is_here) search->table = table;
  return is_here;
}

static void *table_of_frames(void const *code) {
  struct search search = {(uintptr_t)code, NULL};
  (void)dl_iterate_phdr(search_object, &search);
  return search.table;
}

bool bxr_os_can_unwind(void) {
  return table_of_frames((void const *)(uintptr_t)bxr_os_can_unwind) != NULL;
}

/* An unwinder made for glibc asks for the table through this function, which musl lacks. An
   unwinder made for musl does not call it. The struct is glibc's, without its last members: the
   unwinder reads only eh_frame. */
struct dl_find_object {
  unsigned long long flags;
  void *map_start, *map_end, *link_map, *eh_frame;
};

extern __attribute__((weak, visibility("hidden"))) int _dl_find_object(void *,
                                                                       struct dl_find_object *);
int _dl_find_object(void *code, struct dl_find_object *result) {
  result->eh_frame = table_of_frames(code);
  return result->eh_frame == NULL ? -1 : 0;
}
#else
bool bxr_os_can_unwind(void) { return true; }
#endif
