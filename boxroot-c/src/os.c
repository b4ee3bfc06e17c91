/* SPDX-License-Identifier: MIT */
/* Systems with POSIX's mmap and fork. Windows: os_windows.c. */
#ifndef _WIN32
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS, dladdr */
#endif
#include "os.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "atomic.h"
#include "os_faults.h"

size_t bxr_os_page_size(void) {
  return pretended_page_size != 0 ? pretended_page_size : (size_t)sysconf(_SC_PAGESIZE);
}

static void *map_memory(size_t size, size_t align) {
  if (injected_failure()) return NULL;
  size_t page = bxr_os_page_size();
  if (align < page) align = page;
  size = bxr_os_whole_pages(size);
  size_t mapped = size + align;
  char *base = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return NULL;
  size_t before = (align - ((uintptr_t)base & (align - 1))) & (align - 1);
  size_t after = mapped - size - before;
  /* Unmapping the ends of a fresh mapping splits no mapping, so the system cannot run out of them.
     If it still fails, only address space is lost, not memory. */
  if (before != 0) munmap(base, before);
  if (after != 0) munmap(base + before + size, after);
  return base + before;
}

void *bxr_os_map(size_t size, size_t align) {
  int saved = errno;
  void *memory = map_memory(size, align);
  errno = saved;
  return memory;
}

static bool unmap_memory(void *start, size_t size) {
  /* munmap would round up to pages, which may be larger than pools. */
  size_t page = bxr_os_page_size();
  return (uintptr_t)start % page == 0 && size % page == 0 && !injected_refusal() &&
         munmap(start, size) == 0;
}

bool bxr_os_unmap(void *start, size_t size) {
  int saved = errno;
  bool unmapped = unmap_memory(start, size);
  errno = saved;
  return unmapped;
}

uint64_t bxr_os_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int bxr_os_process(void) { return (int)getpid(); }

bool bxr_os_at_fork(void (*child)(void)) {
  injected_interruption();
  return pthread_atfork(NULL, NULL, child) == 0;
}

/* A static executable has no dynamic linker, and needs none: dladdr and dlsym are NULL then, or
   find nothing. (In static executables, GNU ld warns of a direct use of dlopen.) */
#ifdef __ELF__
#pragma weak dladdr
#pragma weak dlsym
#define HAS_DYNAMIC_LINKER (dladdr != NULL && dlsym != NULL)
#else
#define HAS_DYNAMIC_LINKER true
#endif

void bxr_os_pin(void const *address) {
#if defined(RTLD_DEFAULT) && defined(RTLD_NOLOAD) && defined(RTLD_NODELETE)
  int saved = errno;
  Dl_info object;
  union {
    void *symbol;
    void *(*open)(char const *, int);
  } dl = {NULL};
  if (HAS_DYNAMIC_LINKER) dl.symbol = dlsym(RTLD_DEFAULT, "dlopen");
  /* The handle is never closed. For the program itself, dlopen finds no object of that name. */
  if (dl.symbol != NULL && dladdr(address, &object) != 0 && object.dli_fname != NULL)
    (void)dl.open(object.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  errno = saved;
#else
  (void)address;
#endif
}

#else
typedef int bxr_not_posix; /* a translation unit must declare something */
#endif
