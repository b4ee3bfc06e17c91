/* A thread opens a shared object, whose constructor waits under the dynamic linker's lock.
   Meanwhile the first root is made. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#ifdef CONSTRUCTOR
void meet(void);
__attribute__((constructor)) static void constructor(void) { meet(); }
#else
#include <boxroot.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_there, is_made;

static void set(bool *flag) {
  pthread_mutex_lock(&mutex);
  *flag = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static void wait_for(bool const *flag) {
  pthread_mutex_lock(&mutex);
  while (!*flag) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

/* Waits for the other thread, in place of OCaml's lock, which that thread holds. */
void meet(void);
void meet(void) {
  set(&is_there);
  wait_for(&is_made);
}

static void *open(void *path) {
  void *opened = dlopen(path, RTLD_NOW);
  if (opened == NULL) set(&is_there);
  return opened;
}

value constructor_create(value path) {
  pthread_t thread;
  void *opened = NULL;
  if (pthread_create(&thread, NULL, open, (void *)String_val(path)) != 0) return Val_false;
  wait_for(&is_there);
  bool created = boxroot_setup() && boxroot_create(Val_unit) != NULL;
  set(&is_made);
  return Val_bool(pthread_join(thread, &opened) == 0 && opened != NULL && created);
}
#endif
