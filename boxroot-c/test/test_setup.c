/* SPDX-License-Identifier: MIT */
/* Setting the library up. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#ifndef BXR_FAULT_INJECTION
#define BXR_FAULT_INJECTION
#endif
#include "os.h"
#include "runtime.h"
#include "test.h"

#if OCAML_VERSION >= 50000 && !defined(_WIN32)
#include <caml/minor_gc.h>
#include <sys/wait.h>
#include <unistd.h>

/* A thread was setting the library up at the fork. It is gone in the child, with its work half
   done. */
static void fork_and_set_up(void) {
  bxr_runtime_setup();
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    bxr_os_interrupt(NULL);
    alarm(60);
    CHECK(boxroot_create(Val_unit) != NULL && boxroot_status() == BOXROOT_RUNNING);
    caml_minor_collection();
    _exit(0);
  }
  int result;
  CHECK(waitpid(child, &result, 0) == child && result == 0);
}

void test_fork_while_another_thread_sets_up(void) {
  bxr_os_interrupt(fork_and_set_up);
  CHECK(boxroot_setup());
  caml_minor_collection();
}
#else
void test_fork_while_another_thread_sets_up(void) {}
#endif
