#include <caml/callback.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/signals.h>
#include <caml/threads.h>
#include <pthread.h>

static value function;

static void *run(void *unused) {
  (void)unused;
  caml_c_thread_register();
  caml_acquire_runtime_system();
  caml_callback(function, Val_unit);
  caml_release_runtime_system();
  caml_c_thread_unregister();
  return NULL;
}

value start_thread(value f) {
  pthread_t thread;
  function = f;
  caml_register_generational_global_root(&function);
  pthread_create(&thread, NULL, run, NULL);
  return Val_unit;
}
