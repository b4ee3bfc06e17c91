/* SPDX-License-Identifier: MIT */
/* Threads that OCaml knows. The systhreads library keeps a record of each thread, which it finds
   through a thread-specific key. Registering a thread makes a record and needs the lock.

   Unregistering a thread, at its end, would also need the lock. But a thread that ends must not
   wait for the lock, because the thread that holds it may be waiting for that end, or may never
   release the lock (exit). So no thread is unregistered. A thread that ends leaves its record to
   the next thread that is registered, so there are only as many records as threads lived at the
   same time. (No record is freed, because on OCaml 4 fork follows a pointer to the record of the
   thread that held the lock last.) A thread that attaches once executes 1100 more instructions than
   one that does not (OCaml 5.3; 1000 on 4.14). With registering and unregistering, it would be 5700
   (4000 on 4.14).

   The destructor of a thread-specific key hands the record on, because exit never runs such a
   destructor. The destructor of a thread-local variable would not do, because exit runs it on the
   thread that calls exit, where calling frames may hold the lock. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <caml/mlvalues.h>

#include <caml/domain_state.h>
#include <caml/memory.h>
#include <caml/signals.h>
#include <caml/version.h>

#if OCAML_VERSION >= 50000
#include <caml/domain.h>
#include <caml/runtime_events.h>
#else
#include <caml/io.h>
#endif

#include <boxroot/host.h>

#include "obx.h"

/* FIND(f) is the function f of the systhreads library, or NULL if the program does not link it.
   Without ELF, weak references need linker flags. */
typedef int thread_function(void);
typedef value value_function(value);
typedef void interrupt_function(void);
#ifdef __ELF__
extern thread_function caml_c_thread_register __attribute__((weak));
extern value_function caml_thread_self __attribute__((weak));
extern value_function caml_thread_cleanup __attribute__((weak));
extern interrupt_function caml_thread_interrupt_hook __attribute__((weak));
#define FIND(type, f) f
#else
#include <dlfcn.h>
#define FIND(type, f) ((type *)dlsym(RTLD_DEFAULT, #f))
#endif

enum acquired { OBX_ACQUIRED = 0, OBX_NO_THREADS = 1, OBX_NOT_REGISTERED = 2 };

/* ---- records of systhreads ---- */

/* The library's key for a thread's record. It is not public; find_record_key finds it as the key
   whose value changes when a thread is registered. */
static pthread_key_t record_key;
static bool record_key_found;

static bool knows_record_key(void) { return __atomic_load_n(&record_key_found, __ATOMIC_ACQUIRE); }

struct keys {
  void *values[PTHREAD_KEYS_MAX];
};

static void look_at_keys(struct keys *keys) {
  for (int k = 0; k < PTHREAD_KEYS_MAX; k++)
    keys->values[k] = pthread_getspecific((pthread_key_t)k);
}

/* An unknown version of systhreads may keep records elsewhere. Everything works then, but no record
   is reused. */
static void report_no_key(void) {
#ifdef OBX_DEBUG_CHECKS
  static bool reported; /* under the lock of the domain that threads are registered with */
  if (!reported)
    fputs("boxroot: OCaml's record of a thread was not found: each thread that attaches leaks a "
          "record.\n"
          "boxroot: this happens with no tested version of OCaml; please report your version.\n",
          stderr);
  reported = true;
#endif
}

/* Called with the lock, and with the values from before and after this thread was registered. (They
   are from before it took the lock, when boxroot may also set a key.) If several values differ,
   because a finaliser ran, the key stays unknown until another thread is registered. */
static void find_record_key(struct keys const *before, struct keys const *after) {
  int found = -1;
  for (int k = 0; k < PTHREAD_KEYS_MAX; k++) {
    if (after->values[k] == before->values[k]) continue;
    if (found >= 0) return;
    found = k;
  }
  /* A record begins with the thread's descriptor, in all versions. */
  if (found < 0 || after->values[found] == NULL ||
      *(value *)after->values[found] != FIND(value_function, caml_thread_self)(Val_unit)) {
    report_no_key();
    return;
  }
  record_key = (pthread_key_t)found;
  __atomic_store_n(&record_key_found, true, __ATOMIC_RELEASE);
}

/* ---- threads that we registered ---- */

/* What a thread leaves to another one when it ends. */
struct legacy {
  void *record;         /* NULL if it cannot be reused */
  stack_t signal_stack; /* disabled if there is none (4.x) */
  struct legacy *next;
};

/* For `idle`, and for creating the key. Initialised again in the child of a fork. */
static pthread_mutex_t idle_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct legacy *idle; /* the legacies of threads that ended */

/* Set on threads that we registered, and on the one that started OCaml. */
static pthread_key_t legacy_key;
static bool legacy_key_exists;
static bool handles_forks; /* whether `after_fork` is called */

/* Whether OCaml knows this thread, and will until the thread ends. */
static __thread bool known;
/* Whether this thread was registered, but its record was not found. */
static __thread bool record_not_found;

/* ---- signal stacks ---- */

/* OCaml 5's stacks are too small for signal handlers, so each thread that attaches gets a signal
   stack, which lives as long as the record. OCaml's own signal stacks are small and have no guard
   page. OCaml 5.0 and 5.1 give none to threads that C registers. */
static stack_t signal_stack(void) {
  stack_t stack = {.ss_flags = SS_DISABLE};
  (void)sigaltstack(NULL, &stack);
  return stack;
}

/* Whether registering a thread gives it a signal stack. OCaml would free it with the record, which
   never happens here. */
enum { OCAML_MAKES_SIGNAL_STACKS = OCAML_VERSION >= 50200 };

/* For a new record. */
static void keep_signal_stack(struct legacy *legacy) {
  if (obx_make_signal_stack() || OCAML_MAKES_SIGNAL_STACKS) legacy->signal_stack = signal_stack();
}

/* For a thread that ends. */
static void leave_signal_stack(struct legacy const *legacy) {
  stack_t none = {.ss_flags = SS_DISABLE};
  if (!(legacy->signal_stack.ss_flags & SS_DISABLE) &&
      signal_stack().ss_sp == legacy->signal_stack.ss_sp)
    (void)sigaltstack(&none, NULL);
}

/* For a thread that takes the record over. Replaces the thread's signal stack from Rust, if any,
   which is smaller. */
static void take_signal_stack(struct legacy const *legacy) {
  if (!(legacy->signal_stack.ss_flags & SS_DISABLE)) (void)sigaltstack(&legacy->signal_stack, NULL);
}

/* ---- idle records ---- */

static void add_idle(struct legacy *legacy) {
  pthread_mutex_lock(&idle_mutex);
  legacy->next = idle;
  idle = legacy;
  pthread_mutex_unlock(&idle_mutex);
}

static struct legacy *take_idle(void) {
  pthread_mutex_lock(&idle_mutex);
  struct legacy *legacy = idle;
  if (legacy != NULL) idle = legacy->next;
  pthread_mutex_unlock(&idle_mutex);
  return legacy;
}

/* The destructor of legacy_key. Clears `known`, because the destructor of another key may run later
   and attach again. If `known` is false already, `p` is another thread's legacy (see
   forget_another_thread). */
static void thread_ends(void *p) {
  struct legacy *legacy = p;
  if (!known) return;
  known = false;
  leave_signal_stack(legacy);
  if (legacy->record == NULL || pthread_setspecific(record_key, NULL) != 0)
    free(legacy);
  else
    add_idle(legacy);
}

/* Creates the key when a thread first needs it, because a plugin that has not used OCaml may be
   unloaded. */
static bool has_legacy_key(void) {
  pthread_mutex_lock(&idle_mutex);
  if (!legacy_key_exists && handles_forks)
    legacy_key_exists = pthread_key_create(&legacy_key, thread_ends) == 0;
  bool exists = legacy_key_exists;
  pthread_mutex_unlock(&idle_mutex);
  return exists;
}

/* The legacy of this thread, or NULL. */
static struct legacy *legacy_of_this_thread(void) {
  return has_legacy_key() ? pthread_getspecific(legacy_key) : NULL;
}

/* A new legacy for this thread, without a record; NULL if out of memory. */
static struct legacy *new_legacy(void) {
  struct legacy *legacy = has_legacy_key() ? malloc(sizeof *legacy) : NULL;
  if (legacy == NULL) return NULL;
  *legacy = (struct legacy){.signal_stack = {.ss_flags = SS_DISABLE}};
  if (pthread_setspecific(legacy_key, legacy) == 0) return legacy;
  free(legacy);
  return NULL;
}

/* Called by the thread that starts OCaml, before the start. Therefore `thread_ends` is called, at
   the thread's end, before OCaml's key loses the record. */
void obx_set_known(void) {
  (void)new_legacy();
  known = true;
}

/* Whether this process is the child of a fork, in which OCaml 5 still believes that its tick thread
   runs. */
static bool ticks_were_lost;
/* Whether a thread was registered in this process. If so, OCaml's tick thread runs, unless it was
   lost. */
static bool has_ticks;
/* If OCaml's tick thread was lost, each thread asks for the ticks of ticks.c while it is attached.
   (Of two threads that take turns, one has attached since the fork.) Counts the requests of this
   thread. */
static __thread unsigned wants;

/* In the child of a fork, idle records are not used. If the thread that forked held the lock, its
   record must become the only one, and OCaml's locks must be free. On OCaml 4 a fork handler of
   systhreads does this. On OCaml 5 only Unix.fork does, through caml_atfork_hook, so this function
   also calls the hook. If Rust uses OCaml on this thread, this function also gives the child its
   own file for runtime events, as Unix.fork does. It does not do so in a finaliser: OCaml requests
   a collection for it, and would wait for the current one to end. After Unix.fork both steps run
   twice, which is harmless. If another domain was ever made, Unix.fork refuses to fork, and the
   crate refuses to use OCaml in the child (bxr_uses_after_fork), but the child may release the
   lock. The thread of an ended domain keeps its Caml_state and so seems to hold a lock, but its
   state is not that of the first domain. */
static void after_fork(void) {
  idle = NULL;
  pthread_mutex_init(&idle_mutex, NULL); /* its owner may be a thread of the parent */
  has_ticks = false;
  wants = 0;
  obx_ticks_after_fork();
#if OCAML_VERSION >= 50000
  caml_domain_state *state = Caml_state_opt;
  if (state != NULL && state->id == 0 && caml_domain_alone()) {
    if (!caml_domain_is_multicore() && bxr_uses_innermost() > 0 && !obx_in_finaliser())
      caml_runtime_events_post_fork();
    caml_atfork_hook();
    ticks_were_lost = true;
  }
#endif
}

/* Runs when the program starts, or a plugin is loaded, because OCaml may fork before it calls Rust.
   (There is no handler before the fork: if another thread ended the process meanwhile, glibc would
   lose its place in the list of handlers and abort.)

   Keeps the library with this crate loaded: OCaml will call it, for finalisers and closures, and so
   will threads that end. (The C library also keeps itself loaded, but a plugin may use a copy from
   another library.) */
__attribute__((constructor)) static void prepare(void) {
  bxr_pin(&idle);
  handles_forks = pthread_atfork(NULL, NULL, after_fork) == 0;
}

/* Idle records belong to the first domain. OCaml 5.5 refuses to register a thread with another
   domain than before, even if it was unregistered meanwhile, because libraries may keep data of the
   domain in thread-local variables. This function does the same for a thread that gets an idle
   record. Called with the lock. */
static bool may_join_first_domain(void) {
#if OCAML_VERSION >= 50500
  if (!caml_thread_running_on_expected_domain(0)) return false;
  caml_thread_record_domain_id(0);
#endif
  return true;
}

/* Registers this thread with an idle record, and takes the lock. Returns false if there is no idle
   record, if another library has registered the thread, or if OCaml would refuse. */
static bool acquire_with_idle_record(void) {
  if (!knows_record_key() || pthread_getspecific(record_key) != NULL) return false;
  struct legacy *legacy = take_idle();
  if (legacy == NULL) return false;
  if (pthread_setspecific(record_key, legacy->record) != 0 ||
      pthread_setspecific(legacy_key, legacy) != 0) {
    (void)pthread_setspecific(record_key, NULL);
    add_idle(legacy);
    return false;
  }
#if OCAML_VERSION >= 50000
  caml_init_domain_self(0); /* the domain where caml_c_thread_register registers threads */
#endif
  caml_leave_blocking_section();
#if OCAML_VERSION < 50000
  char here;
  Caml_state->top_of_stack = &here; /* as registering does */
#endif
  if (may_join_first_domain()) {
    take_signal_stack(legacy);
    return true;
  }
  caml_enter_blocking_section_no_pending();
  (void)pthread_setspecific(record_key, NULL);
  (void)pthread_setspecific(legacy_key, NULL);
  add_idle(legacy);
  return false;
}

/* Blocks all signals on this thread, which never uses OCaml. */
void obx_block_signals(void) {
  sigset_t all;
  sigfillset(&all);
  (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
}

/* Whether a tick during caml_c_thread_register is harmless. OCaml 5.0 and 5.1 may yield in the
   middle of it, and then confuse the previous lock holder's state with that of the new thread. */
enum { MAY_TICK = OCAML_VERSION < 50000 || OCAML_VERSION >= 50200 };

/* Calls caml_c_thread_register, which waits for the lock, and starts OCaml's tick thread after
   that. */
static bool call_register(void) {
  bool wants_ticks = MAY_TICK && !__atomic_load_n(&has_ticks, __ATOMIC_ACQUIRE);
  if (wants_ticks) obx_want_ticks();
  bool is_made = FIND(thread_function, caml_c_thread_register)() != 0;
  if (wants_ticks) obx_unwant_ticks();
  if (is_made) __atomic_store_n(&has_ticks, true, __ATOMIC_RELEASE);
  return is_made;
}

/* Makes a record for this thread. Returns false if OCaml refuses. On OCaml 4,
   caml_c_thread_register would run OCaml's signal handlers, perhaps on a small stack, and an
   exception from a handler would end the process. So this thread blocks all signals during the
   call: they stay pending, and caml_leave_blocking_section finds them later. */
static bool make_record(void) {
#if OCAML_VERSION >= 50000
  return call_register();
#else
  sigset_t all, mask;
  sigfillset(&all);
  bool is_blocked = pthread_sigmask(SIG_SETMASK, &all, &mask) == 0;
  bool is_made = call_register();
  if (is_blocked) (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
  return is_made;
#endif
}

/* Registers this thread with a new record, and takes the lock. Returns false if OCaml refuses. */
static bool acquire_with_new_record(void) {
  struct legacy *legacy = new_legacy();
  /* The values of the keys before and after. Not on the stack, because they may be larger than its
     guard page. */
  struct keys *keys = knows_record_key() ? NULL : malloc(2 * sizeof *keys);
  if (keys != NULL) look_at_keys(&keys[0]);
  if (!make_record()) {
    if (legacy != NULL) (void)pthread_setspecific(legacy_key, NULL);
    free(legacy);
    free(keys);
    return false;
  }
  if (keys != NULL) look_at_keys(&keys[1]);
  caml_leave_blocking_section();
  if (keys != NULL) find_record_key(&keys[0], &keys[1]);
  free(keys);
  record_not_found = !knows_record_key();
  if (legacy != NULL) {
    keep_signal_stack(legacy);
    legacy->record = knows_record_key() ? pthread_getspecific(record_key) : NULL;
  }
  return true;
}

/* ---- attaching ---- */

enum { NOT_LOOKED = 0, NOT_FOUND, FOUND };
static int threads; /* one of these */

/* Whether the threads library was initialised: only caml_thread_initialize sets this hook. Needs no
   lock. OCaml's table of names would not do: on OCaml 4 it may be changing, and since 5.4 a thread
   that waits for it releases the lock. */
static bool threads_initialised(void) {
#if OCAML_VERSION >= 50000
  interrupt_function *handler = FIND(interrupt_function, caml_thread_interrupt_hook);
  return handler != NULL &&
         __atomic_load_n(&caml_domain_external_interrupt_hook, __ATOMIC_ACQUIRE) == handler;
#else
  return __atomic_load_n(&caml_channel_mutex_lock, __ATOMIC_ACQUIRE) != NULL;
#endif
}

/* Checks whether the program has the threads library, and whether it was initialised. Needs no
   lock. */
void obx_look_for_threads(void) {
  bool found = FIND(thread_function, caml_c_thread_register) != NULL && threads_initialised();
  __atomic_store_n(&threads, found ? FOUND : NOT_FOUND, __ATOMIC_RELEASE);
}

static bool has_threads(void) {
  int seen = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
  /* NOT_LOOKED: another library has set boxroot up. NOT_FOUND: the threads library may have been
     initialised since; on OCaml 4 boxroot would be invalid then. */
  if (seen == NOT_LOOKED || (OCAML_VERSION >= 50000 && seen == NOT_FOUND)) obx_look_for_threads();
  return __atomic_load_n(&threads, __ATOMIC_ACQUIRE) == FOUND;
}

/* For a thread that is not known. In the child of a fork, it may reuse the stack of a parent's
   thread that was calling the destructors of keys. Then its keys still have that thread's values in
   glibc, and OCaml's fork handler has freed the record. */
static void forget_another_thread(void) {
  struct legacy const *legacy = legacy_of_this_thread();
  if (legacy == NULL) return;
  (void)pthread_setspecific(legacy_key, NULL);
  if (knows_record_key() && pthread_getspecific(record_key) == legacy->record)
    (void)pthread_setspecific(record_key, NULL);
}

__attribute__((noinline, cold)) static int acquire_first(void) {
  if (!has_threads()) return OBX_NO_THREADS;
  if (!known) forget_another_thread();
  if (!acquire_with_idle_record() && !acquire_with_new_record()) return OBX_NOT_REGISTERED;
  obx_keep_heap(); /* another library may have set boxroot up */
  known = true;
  return OBX_ACQUIRED;
}

static void want_ticks(void) {
  if (!ticks_were_lost) return;
  wants++;
  obx_want_ticks();
}

static void unwant_ticks(void) {
  if (!ticks_were_lost) return;
  if (wants == 0) return; /* it was attached when the process was forked */
  wants--;
  obx_unwant_ticks();
}

/* Gives this thread its record again, if OCaml's key has lost it. At the end of a thread, its keys
   lose their values one by one, and the destructor of another key may call this before or after
   `thread_ends`. Returns false if the record is lost, as on the thread that started OCaml, which
   leaves none. */
static bool has_record(void) {
  if (!knows_record_key()) {
    if (record_not_found) (void)make_record(); /* OCaml refuses if it still has the record */
    return true;
  }
  if (pthread_getspecific(record_key) != NULL) return true;
  struct legacy *legacy = legacy_of_this_thread();
  return legacy != NULL && legacy->record != NULL &&
         pthread_setspecific(record_key, legacy->record) == 0;
}

__attribute__((noinline)) static int acquire_slowly(bool is_known) {
  want_ticks();
  if (is_known || (known && has_record())) {
    caml_leave_blocking_section();
    return OBX_ACQUIRED;
  }
  int result = acquire_first();
  if (result != OBX_ACQUIRED) unwant_ticks();
  return result;
}

/* Waits for the lock, and takes it, on a thread that does not hold it. Registers the thread if
   OCaml does not know it. `is_known`: OCaml certainly knows the thread. */
int obx_acquire(bool is_known) {
  bool has_nothing_to_do = is_known || (known && !record_not_found && !knows_record_key());
  if (ticks_were_lost || !has_nothing_to_do) return acquire_slowly(is_known);
  caml_leave_blocking_section();
  return OBX_ACQUIRED;
}

/* If OCaml records backtraces, its state of a thread keeps alive the last exception and everything
   that it refers to. */
static void forget_exception(void) {
  Caml_state->backtrace_pos = 0;
#if OCAML_VERSION >= 50000
  caml_modify_generational_global_root(&Caml_state->backtrace_last_exn, Val_unit);
#else
  Caml_state->backtrace_last_exn = Val_unit;
#endif
}

void obx_release(void) {
  unwant_ticks();
  if (Caml_state->backtrace_last_exn != Val_unit) forget_exception();
  caml_enter_blocking_section_no_pending();
}

/* ---- shutting down ---- */

/* caml_thread_cleanup waits for the end of the tick thread. In the child of a fork, OCaml 5 would
   wait for the parent's tick thread, which the child does not have. Then pthread_join returns at
   once in glibc 2.36, and never in glibc 2.43. */
void obx_stop_ticks(void) {
  unwant_ticks();
  value_function *cleanup = FIND(value_function, caml_thread_cleanup);
  if (cleanup != NULL && !ticks_were_lost) (void)cleanup(Val_unit);
}
