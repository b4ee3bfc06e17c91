/* SPDX-License-Identifier: MIT */
/* Runs each test in a process of its own, and counts. */
#include <caml/mlvalues.h>

#ifdef _WIN32
#include <process.h>
#else
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "test.h"

static struct {
  char const *name;
  void (*run)(void);
} const tests[] = {
#define ENTRY(name) {#name, test_##name},
  TESTS(ENTRY)
#undef ENTRY
};

#ifdef _WIN32
/* A process of its own is this program with the number of the test in its environment. */
static bool passes(size_t test) {
  char setting[40];
  snprintf(setting, sizeof setting, "BXR_UNIT_TEST=%zu", test);
  CHECK(_putenv(setting) == 0);
  return _spawnl(_P_WAIT, _pgmptr, _pgmptr, NULL) == 0;
}

static void run_one_only(void) {
  char const *test = getenv("BXR_UNIT_TEST");
  if (test == NULL) return;
  tests[atoi(test)].run();
  exit(0);
}
#else
static bool passes(size_t test) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    tests[test].run();
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  return status == 0;
}

static void run_one_only(void) {}
#endif

value run_unit_tests(value unit) {
  run_one_only();
  size_t count = sizeof tests / sizeof tests[0], failed = 0;
  for (size_t i = 0; i < count; i++) {
    if (passes(i)) continue;
    failed++;
    printf("test_%s failed\n", tests[i].name);
  }
  printf("boxroot-c: %zu passed, %zu failed\n", count - failed, failed);
  if (failed != 0) exit(1);
  return unit;
}
