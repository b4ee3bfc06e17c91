/* SPDX-License-Identifier: MIT */
/* How much of a thread's stack is left. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#if defined(__FreeBSD__) || defined(__DragonFly__)
#include <pthread_np.h>
#endif
#ifdef __linux__
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#endif

#include "obx.h"

struct stack {
  uintptr_t low, high; /* both 0 if not known */
};

#ifdef __linux__
/* The main thread's stack grows up to its limit. musl reports the current size. glibc reports the
   limit, but reads /proc for it, which fails if /proc is missing or no file descriptor is free. The
   program's name is at the stack's upper end. */
static struct stack stack_of_main_thread(void) {
  struct stack stack = {0, getauxval(AT_EXECFN)};
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < stack.high)
    stack.low = stack.high - limit.rlim_cur;
  return stack;
}
static int is_main_thread(void) { return (pid_t)syscall(SYS_gettid) == getpid(); }
#endif

static struct stack stack_of_this_thread(void) {
  struct stack stack = {0, 0};
#if defined(__APPLE__)
  stack.high = (uintptr_t)pthread_get_stackaddr_np(pthread_self());
  stack.low = stack.high - pthread_get_stacksize_np(pthread_self());
#elif defined(__linux__) || defined(__FreeBSD__) || defined(__DragonFly__)
  pthread_attr_t attributes;
  void *low;
  size_t size;
#ifdef __linux__
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return is_main_thread() ? stack_of_main_thread() : stack;
#else
  if (pthread_attr_init(&attributes) != 0) return stack;
  if (pthread_attr_get_np(pthread_self(), &attributes) != 0) goto out;
#endif
  if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
    stack.low = (uintptr_t)low;
    stack.high = stack.low + size;
#if defined(__linux__) && !defined(__GLIBC__)
    if (is_main_thread()) stack = stack_of_main_thread();
#endif
  }
#ifndef __linux__
out:
#endif
  pthread_attr_destroy(&attributes);
#endif
  return stack;
}

/* OCaml's libraries have functions with large arrays on the stack, and do not probe it: unix_read
   takes 64 KiB, unix_getgroups 256 KiB. On a stack with less room, they would write beyond its
   guard page. */
#define OCAML_NEEDS ((uintptr_t)320 << 10)

/* What conversions need on a stack that the thread library does not know, such as a coroutine's. */
#define CONVERSIONS_NEED ((uintptr_t)64 << 10)

/* Conversions leave a quarter of the stack free. Calls of OCaml leave a quarter or OCAML_NEEDS,
   whichever is larger. */
static __thread struct obx_limit for_conversions = {.needed = CONVERSIONS_NEED};
__thread struct obx_limit obx_for_ocaml = {.needed = OCAML_NEEDS};

/* The assumed size of a stack without a limit, which may run into other memory as it grows. */
#define LARGEST ((uintptr_t)1 << 30)

/* Whether these 8 bytes can be read. Linux reads the signal set before it checks the operation,
   which is invalid here. On a system that checks the operation first, all bytes seem to be
   readable. */
static int are_readable(char const volatile *bytes) {
#ifdef __linux__
  return syscall(SYS_rt_sigprocmask, -1, bytes, NULL, (size_t)8) == 0 || errno != EFAULT;
#else
  (void)bytes;
  return 1;
#endif
}

/* Asks the system each time, because another stack may have been here before. Each query covers two
   pages, at their common edge. If the system does not tell, reading a guard page ends the process
   here. Otherwise OCaml might write beyond that page. */
__attribute__((no_sanitize("address"))) static int has_readable_below(uintptr_t here,
                                                                      uintptr_t needed) {
  uintptr_t const page = 4096, lowest = here - needed;
  int error = errno, readable = 1;
  for (uintptr_t edge = here & -page; readable && edge + page > lowest; edge -= 2 * page) {
    char const volatile *bytes = (char const volatile *)(edge - 4 > lowest ? edge - 4 : lowest);
    readable = are_readable(bytes);
    if (readable) (void)(bytes[0] + bytes[7]);
  }
  errno = error;
  return readable;
}

static void keep_free(struct obx_limit *limit, uintptr_t kept, uintptr_t low, uintptr_t high) {
  limit->end = low + kept;
  limit->size = high - limit->end;
}

/* Uses the address of the frame, because the address sanitizer may move variables off the stack. */
int obx_has_stack_below(struct obx_limit *limit) {
  static __thread struct stack stack;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (for_conversions.size == 0) {
    stack = stack_of_this_thread();
    if (stack.high == 0) return 1; /* not known */
    if (stack.high - stack.low > LARGEST) stack.low = stack.high - LARGEST;
    uintptr_t size = stack.high - stack.low, quarter = size / 4;
    keep_free(&for_conversions, quarter, stack.low, stack.high);
    if (size > OCAML_NEEDS)
      keep_free(&obx_for_ocaml, quarter > OCAML_NEEDS ? quarter : OCAML_NEEDS, stack.low,
                stack.high);
  }
  if (here - stack.low < stack.high - stack.low) return here - limit->end < limit->size;
  return has_readable_below(here, limit->needed);
}

int obx_has_stack_for_ocaml(void) { return obx_has_stack_within(&obx_for_ocaml); }

int obx_has_stack(uintptr_t *end, uintptr_t *size) {
  int enough = obx_has_stack_within(&for_conversions);
  *end = for_conversions.end;
  *size = for_conversions.size;
  return enough;
}
