/* Closes a plugin while OCaml has what the plugin made. The program has a copy of the library, too, which the plugin's Rust code uses. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <caml/signals.h>

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

/* A thread of C opens the plugin, which attaches on it, and closes it. */
static void *attach_and_close(void *path) {
  void *opened = dlopen(path, RTLD_NOW);
  bool (*attach)(void) = NULL;
  if (opened != NULL) *(void **)&attach = dlsym(opened, "first_attach");
  return attach != NULL && attach() && dlclose(opened) == 0 ? path : NULL;
}

value closes_attached(value path) {
  if (!boxroot_setup() || boxroot_create(path) == NULL) abort();
  char *copy = strdup(String_val(path));
  pthread_t thread;
  void *result = NULL;
  caml_enter_blocking_section();
  if (pthread_create(&thread, NULL, attach_and_close, copy) == 0) pthread_join(thread, &result);
  caml_leave_blocking_section();
  free(copy);
  return Val_bool(result != NULL);
}
