/* SPDX-License-Identifier: MIT */
/* Windows. Besides errno, the result of GetLastError is kept unchanged: the caller of a delete may
   need it. */
#ifdef _WIN32
#include "os.h"

#include <errno.h>
#include <windows.h>

#include "atomic.h"
#include "os_faults.h"

size_t bxr_os_page_size(void) {
  SYSTEM_INFO info;
  if (pretended_page_size != 0) return pretended_page_size;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

/* Reserves more addresses than were asked for, and gives memory only to the aligned part. An
   *allocation*, the range that one call reserved, can only be released as a whole. Its ends stay
   reserved until then, which takes no memory. */
static void *map_memory(size_t size, size_t align) {
  if (injected_failure()) return NULL;
  size_t page = bxr_os_page_size();
  if (align < page) align = page;
  size = bxr_os_whole_pages(size);
  char *base = VirtualAlloc(NULL, size + align, MEM_RESERVE, PAGE_READWRITE);
  if (base == NULL) return NULL;
  size_t before = (align - ((uintptr_t)base & (align - 1))) & (align - 1);
  void *memory = VirtualAlloc(base + before, size, MEM_COMMIT, PAGE_READWRITE);
  if (memory == NULL) (void)VirtualFree(base, 0, MEM_RELEASE);
  return memory;
}

/* Held while a part's memory is given back, and its allocation released if that was the last
   part. */
static SRWLOCK unmapping = SRWLOCK_INIT;

/* Whether no part of the allocation that begins at this address has memory. */
static bool is_unused(char *allocation) {
  MEMORY_BASIC_INFORMATION part = {.State = MEM_RESERVE};
  for (char *at = allocation; part.State == MEM_RESERVE; at += part.RegionSize) {
    if (VirtualQuery(at, &part, sizeof part) == 0) return false;
    if (part.State == MEM_FREE || part.AllocationBase != allocation) return true;
  }
  return false;
}

static bool unmap_locked(void *start, size_t size) {
  MEMORY_BASIC_INFORMATION part;
  if (VirtualQuery(start, &part, sizeof part) == 0 || !VirtualFree(start, size, MEM_DECOMMIT))
    return false;
  if (is_unused(part.AllocationBase)) (void)VirtualFree(part.AllocationBase, 0, MEM_RELEASE);
  return true;
}

static bool unmap_memory(void *start, size_t size) {
  /* VirtualFree would round up to pages. */
  size_t page = bxr_os_page_size();
  if ((uintptr_t)start % page != 0 || size % page != 0 || injected_refusal()) return false;
  AcquireSRWLockExclusive(&unmapping);
  bool unmapped = unmap_locked(start, size);
  ReleaseSRWLockExclusive(&unmapping);
  return unmapped;
}

void *bxr_os_map(size_t size, size_t align) {
  DWORD saved = GetLastError();
  int saved_errno = errno;
  void *memory = map_memory(size, align);
  errno = saved_errno;
  SetLastError(saved);
  return memory;
}

bool bxr_os_unmap(void *start, size_t size) {
  DWORD saved = GetLastError();
  int saved_errno = errno;
  bool unmapped = unmap_memory(start, size);
  errno = saved_errno;
  SetLastError(saved);
  return unmapped;
}

uint64_t bxr_os_nanoseconds(void) {
  LARGE_INTEGER ticks, frequency; /* in ticks per second */
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&frequency);
  uint64_t now = (uint64_t)ticks.QuadPart, second = (uint64_t)frequency.QuadPart;
  return now / second * 1000000000 + now % second * 1000000000 / second;
}

int bxr_os_process(void) { return 1; } /* there is no fork */

bool bxr_os_at_fork(void (*child)(void)) {
  injected_interruption();
  return (void)child, true;
}

void bxr_os_pin(void const *address) {
  HMODULE object;
  DWORD saved = GetLastError();
  (void)GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                           address, &object);
  SetLastError(saved);
}

#else
typedef int bxr_not_windows; /* a translation unit must declare something */
#endif
