/* Closes a plugin while OCaml has what the plugin made. The program has a copy of the library, too, which the plugin's Rust code uses. */
#include <dlfcn.h>
#include <limits.h>
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

/* Opens and closes the plugin, which does nothing meanwhile, more often than a process may have keys of thread-specific data. */
static bool leaves_no_keys(char const *path) {
  for (int i = 0; i < PTHREAD_KEYS_MAX; i++) {
    void *opened = dlopen(path, RTLD_NOW);
    if (opened == NULL || dlclose(opened) != 0) return false;
  }
  pthread_key_t key;
  return pthread_key_create(&key, NULL) == 0 && pthread_key_delete(key) == 0;
}

static bool (*attach)(void);
static bool attached_at_end;

/* The destructor of a key. */
static void attach_at_end(void *unused) {
  (void)unused;
  attached_at_end = attach();
}

/* A thread of C opens the plugin, which attaches on it, and closes it. It attaches again at its end, when OCaml's key has no value. */
static void *attach_and_close(void *path) {
  pthread_key_t key;
  if (!leaves_no_keys(path) || pthread_key_create(&key, attach_at_end) != 0) return NULL;
  void *opened = dlopen(path, RTLD_NOW);
  if (opened != NULL) *(void **)&attach = dlsym(opened, "first_attach");
  if (attach == NULL || pthread_setspecific(key, path) != 0) return NULL;
  return attach() && dlclose(opened) == 0 ? path : NULL;
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
  return Val_bool(result != NULL && attached_at_end);
}
