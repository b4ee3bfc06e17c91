/* SPDX-License-Identifier: MIT */
/* The number and the name of a thread, for reports. Rust's `thread::current` also knows them, but
   it panics in the destructors of thread-specific keys, which may attach. It also does not know the
   names of threads that OCaml made. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

/* The number that the system gives this thread, and the thread's name, which may be empty and is
   cut after 15 bytes. Any thread, at any time. */
uint64_t obx_thread(char name[16]) {
  memset(name, 0, 16);
#if defined(__linux__)
  uint64_t number = (uint64_t)syscall(SYS_gettid);
  if (number == (uint64_t)getpid())
    memcpy(name, "main", 4); /* the system gives it the program's name */
  else
    (void)prctl(PR_GET_NAME, name);
#else
  uint64_t number = (uintptr_t)pthread_self();
#if defined(__APPLE__)
  (void)pthread_getname_np(pthread_self(), name, 16);
#endif
#endif
  name[15] = 0;
  return number;
}

/* Gives this thread a name, which Linux cuts after 15 bytes. */
void obx_name_thread(char const *name) {
#if defined(__linux__)
  (void)prctl(PR_SET_NAME, name);
#elif defined(__APPLE__)
  (void)pthread_setname_np(name);
#else
  (void)name;
#endif
}
