/* Closes a plugin while OCaml has values that the plugin made. The program also has a copy of the
   library, and the plugin's Rust code uses it. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <caml/alloc.h>
#include <caml/custom.h>
#include <caml/domain_state.h>
#include <caml/memory.h>
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

/* Opens and closes the plugin more often than a process may have keys of thread-specific data. The
   plugin does nothing meanwhile. */
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
static pthread_key_t key;

/* The key's destructor. */
static void attach_at_end(void *unused) {
  (void)unused;
  attached_at_end = attach();
}

static void set_key(value unused) {
  (void)unused;
  (void)pthread_setspecific(key, &key);
}

static uintnat words_left(void) {
  return (uintnat)((value *)Caml_state->young_ptr - (value *)Caml_state->young_start);
}

/* Fills the minor heap, so that a finaliser sets the key on the thread that allocates next. */
static void fill_minor_heap(void) {
  static struct custom_operations operations = {.identifier = "closes", .finalize = set_key};
  while (words_left() > 24) (void)caml_alloc_small(1, 0);
  (void)caml_alloc_custom(&operations, sizeof(value), 0, 1);
  while (words_left() > 2) (void)caml_alloc_small(1, 0);
}

/* A C thread opens the plugin, calls it so that it attaches, and closes it. The thread attaches
   again at its end, when OCaml's key has no value. */
static void *attach_and_close(void *path) {
  void *opened = dlopen(path, RTLD_NOW);
  if (opened != NULL) *(void **)&attach = dlsym(opened, "first_attach");
  if (attach == NULL || !attach()) return NULL;
  set_key(Val_unit);
  return dlclose(opened) == 0 ? path : NULL;
}

/* If `busy` is true, another key besides OCaml's is set when the thread is registered. */
value closes_attached(value path, value busy) {
  if (!boxroot_setup() || boxroot_create(path) == NULL) abort();
  char *copy = strdup(String_val(path));
  if (!leaves_no_keys(copy) || pthread_key_create(&key, attach_at_end) != 0) abort();
  if (Bool_val(busy)) fill_minor_heap();
  pthread_t thread;
  void *result = NULL;
  caml_enter_blocking_section_no_pending(); /* does not collect */
  if (pthread_create(&thread, NULL, attach_and_close, copy) == 0) pthread_join(thread, &result);
  caml_leave_blocking_section();
  free(copy);
  return Val_bool(result != NULL && attached_at_end);
}
