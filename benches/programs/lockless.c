/* Threads that never hold OCaml's lock, and delete cells that OCaml creates. Cells are passed in
   batches, which are reused: there is a stack of full batches, and a stack of free ones. */
#define CAML_NAME_SPACE
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <caml/mlvalues.h>

#include <caml/memory.h>
#include <caml/threads.h>

#include "../runtime/implementation.h"

enum { BATCHES = 64, THREADS = 64 };

struct batch {
  intptr_t count;
  cell *cells;
  struct batch *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_full = PTHREAD_COND_INITIALIZER, has_free = PTHREAD_COND_INITIALIZER;
static struct batch *full, *free_batches; /* linked by next */
static bool finished;
static pthread_t threads[THREADS];
static long thread_count;

static void *delete_batches(void *argument) {
  (void)argument;
  pthread_mutex_lock(&mutex);
  for (;;) {
    while (full == NULL && !finished) pthread_cond_wait(&has_full, &mutex);
    struct batch *batch = full;
    if (batch == NULL) break;
    full = batch->next;
    pthread_mutex_unlock(&mutex);
    implementation->delete (batch->cells, batch->count);
    pthread_mutex_lock(&mutex);
    batch->next = free_batches;
    free_batches = batch;
    pthread_cond_signal(&has_free);
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

value bench_start_threads(value n, value batch_size) {
  thread_count = Long_val(n);
  if (thread_count > THREADS) abort();
  for (int i = 0; i < BATCHES; i++) {
    struct batch *batch = malloc(sizeof *batch);
    if (batch == NULL) abort();
    batch->count = Long_val(batch_size);
    batch->cells = malloc((size_t)batch->count * sizeof(cell));
    if (batch->cells == NULL) abort();
    batch->next = free_batches;
    free_batches = batch;
  }
  for (long i = 0; i < thread_count; i++)
    if (pthread_create(&threads[i], NULL, delete_batches, NULL) != 0) abort();
  return Val_unit;
}

/* Creates a cell for each value of the array, and leaves the cells to the threads. */
value bench_send(value values) {
  CAMLparam1(values);
  pthread_mutex_lock(&mutex);
  if (free_batches == NULL) {
    pthread_mutex_unlock(&mutex);
    caml_release_runtime_system();
    pthread_mutex_lock(&mutex);
    while (free_batches == NULL) pthread_cond_wait(&has_free, &mutex);
    pthread_mutex_unlock(&mutex);
    caml_acquire_runtime_system();
    pthread_mutex_lock(&mutex);
  }
  struct batch *batch = free_batches; /* only this thread takes from it */
  free_batches = batch->next;
  pthread_mutex_unlock(&mutex);
  implementation->create(batch->cells, (value const *)values, batch->count);
  pthread_mutex_lock(&mutex);
  batch->next = full;
  full = batch;
  pthread_cond_signal(&has_full);
  pthread_mutex_unlock(&mutex);
  CAMLreturn(Val_unit);
}

value bench_join_threads(value unit) {
  CAMLparam1(unit);
  caml_release_runtime_system();
  pthread_mutex_lock(&mutex);
  finished = true;
  pthread_cond_broadcast(&has_full);
  pthread_mutex_unlock(&mutex);
  for (long i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
  caml_acquire_runtime_system();
  CAMLreturn(unit);
}
