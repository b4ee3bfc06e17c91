/* Closes a plugin while OCaml has what the plugin made. The program has a copy of the library, too, which the plugin's Rust code uses. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <boxroot.h>

static void *plugin;
static value (*boxed)(value);

value closes_open(value path) {
  if (!boxroot_setup() || boxroot_create(path) == NULL) abort();
  plugin = dlopen(String_val(path), RTLD_NOW);
  if (plugin != NULL) *(void **)&boxed = dlsym(plugin, "first_boxed");
  if (boxed == NULL) puts(dlerror());
  return Val_bool(boxed != NULL);
}

value closes_boxed(value roots) { return boxed(roots); }
value closes_close(value unit) { return (void)unit, Val_bool(dlclose(plugin) == 0); }
