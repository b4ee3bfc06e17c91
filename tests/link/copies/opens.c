/* Opens a shared object that contains the library, in a process without OCaml, in which OCaml's
   symbols are zeros. Exits with 2 if the dynamic linker refuses. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "users.h"

/* This process has only the plugin's copy of the library, and no linker checks its flavour. */
char const bxr_flavour = 0;

int main(int argc, char **argv) {
  void *handle = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (handle == NULL) {
    puts(dlerror());
    return 2;
  }
  struct users const *users = dlsym(handle, "plugin_users");
  if (users == NULL || users->setup() || users->create(Val_unit) != NULL || errno != EPERM)
    return 1;
  users->remove(NULL);
  return strstr(users->error(), "no error") != NULL;
}
