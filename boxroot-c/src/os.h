/* SPDX-License-Identifier: MIT */
/* What the allocator needs from the operating system. The only file besides runtime*
   to change for a port, and the place where the tests make allocation fail. Nothing here changes
   errno: deletes and root scans must not. */
#ifndef BXR_OS_H
#define BXR_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The system's unit of memory. Any thread. */
size_t bxr_os_page_size(void);

/* Zeroed memory, aligned to `align` (a power of two, at least a page), or NULL.
   Any thread. `size` is a multiple of `align`. */
void *bxr_os_map(size_t size, size_t align);

/* Gives back any `align`-aligned part of what bxr_os_map returned. Any thread. False
   if the system refuses: the part then still belongs to the caller, unchanged. */
bool bxr_os_unmap(void *start, size_t size);

/* A clock that never goes back. Any thread. */
uint64_t bxr_os_nanoseconds(void);

/* Runs `child` in the child process after every later fork. False on failure. */
bool bxr_os_at_fork(void (*child)(void));

/* Keeps the shared object that holds `address` in the process, also when it is closed, where the
   system can do so. Nothing if it is in the program itself. Keeps errno. Any thread. */
void bxr_os_pin(void const *address);

/* Fault injection, for tests; compiled in only with -DBXR_FAULT_INJECTION. */
#ifdef BXR_FAULT_INJECTION
/* Fails the k-th next call of bxr_os_map (1 is the next one), and, if for_good, all
   those after it. k = 0 turns failures off. Returns the calls since the last time. */
size_t bxr_os_fail(size_t k, bool for_good);
/* Makes pages look larger than they are. 0: no more. */
void bxr_os_pretend_page_size(size_t size);
#endif

#pragma GCC visibility pop

#endif
