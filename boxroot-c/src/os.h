/* SPDX-License-Identifier: MIT */
/* The functions that the allocator needs from the operating system. A port has to change only os.c
   (on Windows, os_windows.c) and the runtime* files. The tests can make these functions fail. None
   of them changes errno, because deletes and root scans must not change it. */
#ifndef BXR_OS_H
#define BXR_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The size of a page in bytes. Any thread. */
size_t bxr_os_page_size(void);

/* A size in bytes, rounded up to pages. Any thread. */
static inline size_t bxr_os_whole_pages(size_t size) {
  size_t page = bxr_os_page_size();
  return (size + page - 1) & ~(page - 1);
}

/* Returns zeroed memory, aligned to `align`, a power of two; or NULL. `size` is a multiple of
   `align`. Both are in bytes, and are rounded up to whole pages. Any thread. */
void *bxr_os_map(size_t size, size_t align);

/* Gives back a part of what bxr_os_map returned. Any thread. Returns false if the part is not whole
   pages, or if the system refuses. It then still belongs to the caller, unchanged. */
bool bxr_os_unmap(void *start, size_t size);

/* A monotonic clock, in nanoseconds. Any thread. */
uint64_t bxr_os_nanoseconds(void);

/* A nonzero number that no other running process has. The child of a fork has a different number
   from its parent. Any thread. */
int bxr_os_process(void);

/* Runs `child` in the child process after every later fork. False on failure. On a system without
   fork, does nothing, and returns true. */
bool bxr_os_at_fork(void (*child)(void));

/* Keeps the shared object that holds `address` in the process, even after dlclose, if the system
   can do so. Does nothing if the address is in the program itself. May wait for the dynamic
   linker's lock. Any thread. */
void bxr_os_pin(void const *address);

/* Whether the program or shared library that contains this function has a table of frames. Without
   it some unwinders abort. Any thread. */
bool bxr_os_can_unwind(void);

/* Fault injection, for tests; compiled in only with -DBXR_FAULT_INJECTION. */
#ifdef BXR_FAULT_INJECTION
/* Makes the k-th call of bxr_os_map from now on fail (1 is the next one), and if for_good, all
   later ones. k = 0 turns failures off. Returns the number of calls of bxr_os_map since the last
   call of this function. */
size_t bxr_os_fail(size_t k, bool for_good);
/* Sets whether bxr_os_unmap fails from now on. Returns the number of its calls with whole pages
   since the last call of this function. */
size_t bxr_os_refuse_unmap(bool refuse);
/* Sets a function that bxr_os_at_fork calls first: it acts as another thread could meanwhile. */
void bxr_os_interrupt(void (*act)(void));
/* Makes pages look larger than they are. 0 restores their true size. */
void bxr_os_pretend_page_size(size_t size);
#endif

#pragma GCC visibility pop

#endif
