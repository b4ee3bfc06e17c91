/* SPDX-License-Identifier: MIT */
/* Runs each test in a process of its own, and counts. */
#include <caml/mlvalues.h>

#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static struct {
  char const *name;
  void (*run)(void);
} const tests[] = {
#define ENTRY(name) {#name, test_##name},
  TESTS(ENTRY)
#undef ENTRY
};

static bool passes(void (*run)(void)) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    run();
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  return status == 0;
}

value run_unit_tests(value unit) {
  size_t count = sizeof tests / sizeof tests[0], failed = 0;
  for (size_t i = 0; i < count; i++) {
    if (passes(tests[i].run)) continue;
    failed++;
    printf("test_%s failed\n", tests[i].name);
  }
  printf("boxroot-c: %zu passed, %zu failed\n", count - failed, failed);
  if (failed != 0) exit(1);
  return unit;
}
