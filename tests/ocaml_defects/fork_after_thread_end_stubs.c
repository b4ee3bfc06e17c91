#include <caml/mlvalues.h>
#include <caml/threads.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Forks after the thread that last held OCaml's lock has ended. */
value fork_without_lock(value unit) {
  int status = 0;
  (void)unit;
  caml_release_runtime_system();
  usleep(2000);
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, &status, 0);
  caml_acquire_runtime_system();
  return Val_int(status);
}
