/* SPDX-License-Identifier: MIT */
/* Reports a failure and its step, so that the step can be run again. */
#include "stress.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct settings settings;
__thread struct actor *current_actor;
__thread char const *current_hook;

static uint64_t calls, other_calls;

void count_calls(uint64_t n) { __atomic_fetch_add(&calls, n, __ATOMIC_RELAXED); }

void count_other_calls(uint64_t n) { __atomic_fetch_add(&other_calls, n, __ATOMIC_RELAXED); }

/* Not quite allowed in a signal handler, but the program is about to end. */
static int describe(char *text, size_t size) {
  struct actor *a = current_actor;
  char const *hook = current_hook;
  return snprintf(text, size, "stress: SEED=%llu actor=%d step=%llu operation=%s%s%s",
                  (unsigned long long)settings.seed, a == NULL ? -1 : (int)a->number,
                  a == NULL ? 0 : (unsigned long long)a->steps, a == NULL ? "none" : a->operation,
                  hook == NULL ? "" : " hook=", hook == NULL ? "" : hook);
}

/* The runtime's assertions, and segmentation faults. */
static void crashed(int signal_number) {
  char text[300];
  int length = describe(text, sizeof text - 32);
  length += snprintf(text + length, 32, ": signal %d\n", signal_number);
  ssize_t written = write(STDERR_FILENO, text, (size_t)length);
  signal(signal_number, SIG_DFL);
  raise(written < 0 ? SIGABRT : signal_number);
}

#ifdef _WIN32
static void report_crashes(void) {
  int fatal[] = {SIGSEGV, SIGILL, SIGABRT};
  for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) signal(fatal[i], crashed);
}
#else
static void report_crashes(void) {
  int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT};
  struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK};
  for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) sigaction(fatal[i], &action, NULL);
}
#endif

void fail(char const *format, ...) {
  char text[300];
  va_list arguments;
  describe(text, sizeof text);
  va_start(arguments, format);
  fprintf(stderr, "%s: ", text);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  signal(SIGABRT, SIG_DFL);
  abort();
}

value stress_settings(value seed, value roots, value pause, value hooks) {
  settings.seed = (uint64_t)Long_val(seed);
  settings.roots = (uint32_t)Long_val(roots);
  settings.pause = (uint32_t)Long_val(pause);
  settings.hooks = (uint32_t)Long_val(hooks);
  settings.except = getenv("EXCEPT") == NULL ? "" : getenv("EXCEPT");
  report_crashes();
  return Val_unit;
}

value stress_calls(value others) {
  return Val_long(__atomic_load_n(Bool_val(others) ? &other_calls : &calls, __ATOMIC_RELAXED));
}
