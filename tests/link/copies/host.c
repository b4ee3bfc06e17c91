/* Boxroots of the executable (user 0) and of the plugins that it loaded (1, 2, ...), for
   program.ml. A plugin without a name is part of the executable. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "users.h"

#include <caml/alloc.h>
#include <caml/callback.h>

static struct users const own = USERS;
static struct users const *users[8] = {&own};
static void *handles[8];
static int count = 1;

static struct users const *user(value number) { return users[Int_val(number)]; }

value host_load(value path, value global) {
  char const *name = caml_string_length(path) == 0 ? NULL : String_val(path);
  void *handle = dlopen(name, RTLD_NOW | (Bool_val(global) ? RTLD_GLOBAL : 0));
  if (handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  users[count] = dlsym(handle, "plugin_users");
  handles[count] = handle;
  return Val_int(count++);
}

/* Whether an object is loaded under this name. */
static bool is_loaded(char const *path) { return dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL; }
value host_is_loaded(value path) { return Val_bool(is_loaded(String_val(path))); }
value host_close(value number) { return Val_bool(dlclose(handles[Int_val(number)]) == 0); }

value host_setup(value number) { return Val_bool(user(number)->setup()); }
value host_status(value number) { return Val_int(user(number)->status()); }
value host_error(value number) { return caml_copy_string(user(number)->error()); }
value host_live(value number) { return Val_long(user(number)->live()); }

/* OCaml gets roots as immediates. Returns 0 with errno EPERM if there is no root. Success does not
   change errno. */
value host_create(value number, value v) {
  errno = ERANGE;
  boxroot root = user(number)->create(v);
  if (errno != (root == NULL ? EPERM : ERANGE)) abort();
  return (value)root | 1;
}
static boxroot root_of(value handle) { return (boxroot)(handle & ~(value)1); }
value host_get(value number, value handle) { return user(number)->get(root_of(handle)); }
value host_modify(value number, value handle, value v) {
  boxroot root = root_of(handle);
  return user(number)->modify(&root, v) ? (value)root | 1 : Val_int(0);
}
value host_delete(value number, value handle) {
  user(number)->remove(root_of(handle));
  return Val_unit;
}

/* Runs f in a child process. Returns true if it succeeded there. */
value host_also_in_a_child(value f) {
  pid_t child = fork();
  if (child < 0) abort();
  if (child == 0) {
    value result = caml_callback_exn(f, Val_unit);
    _exit(Is_exception_result(result) ? 1 : 0);
  }
  int status;
  if (waitpid(child, &status, 0) != child) abort();
  return Val_bool(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
