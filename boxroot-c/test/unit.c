/* SPDX-License-Identifier: MIT */
/* Runs each test in its own process, and counts the results. */
#include <string.h>

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

/* Runs the test that BXR_UNIT_TEST names, alone and in this process. */
static void run_one_only(void) {
  char const *name = getenv("BXR_UNIT_TEST");
  if (name == NULL) return;
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    if (strcmp(tests[i].name, name) != 0) continue;
    tests[i].run();
    exit(0);
  }
  fprintf(stderr, "boxroot-c: no unit test %s on this system\n", name);
  exit(1);
}

#ifdef _WIN32
static bool passes(size_t test) {
  char setting[100];
  snprintf(setting, sizeof setting, "BXR_UNIT_TEST=%s", tests[test].name);
  CHECK(_putenv(setting) == 0);
  return _spawnl(_P_WAIT, _pgmptr, _pgmptr, NULL) == 0;
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
