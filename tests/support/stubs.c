/* C functions for the tests. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <boxroot.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <caml/mlvalues.h>

#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/custom.h>
#include <caml/major_gc.h>
#include <caml/memory.h>
#include <caml/minor_gc.h>
#include <caml/misc.h>
#include <caml/roots.h>
#include <caml/threads.h>
#include <caml/version.h>

/* ---- custom blocks whose finaliser uses boxroots ---- */

static size_t finalised, creates_refused;

/* The finaliser. The block holds one root, or NULL. */
static void finalise(value v) {
  boxroot root = *(boxroot *)Data_custom_val(v);
  finalised++;
  boxroot made = boxroot_create(Val_unit);
  if (made == NULL)
    creates_refused += errno == EPERM && strstr(boxroot_error_string(), "finaliser") != NULL;
  else
    boxroot_delete(made);
  boxroot_delete(root);
}

static struct custom_operations operations = {
  "boxroot.test.owner",       finalise,
  custom_compare_default,     custom_hash_default,
  custom_serialize_default,   custom_deserialize_default,
  custom_compare_ext_default, custom_fixed_length_default,
};

/* A custom block that owns a root. */
value test_custom_owner(boxroot root) {
  value v = caml_alloc_custom(&operations, sizeof(boxroot), 0, 1);
  *(boxroot *)Data_custom_val(v) = root;
  return v;
}

/* A custom block whose finaliser forks. */
static long forks;
static void fork_in_finaliser(value v) {
  (void)v;
  pid_t child = fork();
  if (child == 0) _exit(0);
  forks += child > 0 && waitpid(child, NULL, 0) == child;
}
static struct custom_operations forking_operations = {
  "boxroot.test.forking",     fork_in_finaliser,           custom_compare_default,
  custom_hash_default,        custom_serialize_default,    custom_deserialize_default,
  custom_compare_ext_default, custom_fixed_length_default,
};
value test_forking_block(value unit) {
  (void)unit;
  return caml_alloc_custom(&forking_operations, sizeof(value), 0, 1);
}
value test_forks(value unit) { return (void)unit, Val_long(forks); }

/* Calls a function, and returns a value that it has kept meanwhile. */
value test_call_beside(value kept, value function) {
  CAMLparam2(kept, function);
  caml_callback(function, Val_unit);
  CAMLreturn(kept);
}

value test_setup(value unit) { return (void)unit, Val_bool(boxroot_setup()); }

/* A block of the same size as a custom block that owns a root. */
value test_pair(value first) {
  value pair = caml_alloc_small(2, 0);
  Field(pair, 0) = first;
  Field(pair, 1) = Val_unit;
  return pair;
}

size_t test_finalised(void) { return finalised; }
size_t test_creates_refused(void) { return creates_refused; }

/* ---- roots through the inlined C functions ---- */

/* Creates, reads and deletes n roots, twice. Returns the number of errors. */
size_t test_inline_round_trip(size_t n) {
  size_t wrong = 0;
  for (size_t i = 0; i < n; i++) {
    boxroot root = boxroot_create(Val_long(i));
    if (root == NULL) return n;
    wrong += (uintptr_t)root % sizeof(value) != 0; /* C code relies on free low bits: root | 1 */
    wrong += boxroot_get(root) != Val_long(i) || *boxroot_get_ref(root) != Val_long(i);
    wrong += !boxroot_modify(&root, Val_long(~i)) || boxroot_get(root) != Val_long(~i);
    boxroot_delete(root);
  }
  boxroot_domain domain = boxroot_domain_self();
  for (size_t i = 0; i < n; i++) {
    boxroot root = boxroot_create_in(domain, Val_long(i));
    wrong += root == NULL || boxroot_get(root) != Val_long(i);
    wrong += !boxroot_modify_in(domain, &root, Val_long(~i)) || boxroot_get(root) != Val_long(~i);
    boxroot_delete_in(domain, root);
  }
  return wrong;
}

void test_delete_null(void) { boxroot_delete(NULL); }

/* ---- hooks ---- */

static void (*hook_body)(void);
static void run_hook(void) { hook_body(); }

/* Calls body from some of the collector's hooks: 1 and 2, when a minor collection begins and ends;
   4 and 8, when a major slice begins and ends. */
void test_hooks(int which, void (*body)(void)) {
  hook_body = body;
  caml_minor_gc_begin_hook = which & 1 ? run_hook : NULL;
  caml_minor_gc_end_hook = which & 2 ? run_hook : NULL;
  caml_major_slice_begin_hook = which & 4 ? run_hook : NULL;
  caml_major_slice_end_hook = which & 8 ? run_hook : NULL;
}

/* Does the work of a domain that waits for the others in a minor collection. */
void test_work_of_a_waiting_domain(void) {
#if OCAML_VERSION >= 50000
  caml_opportunistic_major_collection_slice(1);
#endif
}

/* Two more libraries that scan roots. Their hooks count their calls, and call the previous hook. */
#if OCAML_VERSION >= 50000
#define SCAN_PARAMETERS                                                                            \
  scanning_action action, scanning_action_flags flags, void *data, caml_domain_state *state
#define SCAN_ARGUMENTS action, flags, data, state
#else
#define SCAN_PARAMETERS scanning_action action
#define SCAN_ARGUMENTS action
#endif
static size_t other_scans[2];
typedef void (*scan_hook)(SCAN_PARAMETERS);
static scan_hook previous_scan_roots[2];

static void (*other_body)(void);

static void other_scan(int which, SCAN_PARAMETERS) {
  other_scans[which]++;
  if (other_body != NULL) other_body();
  if (previous_scan_roots[which] != NULL) previous_scan_roots[which](SCAN_ARGUMENTS);
  if (other_body != NULL) other_body();
}

static void other_first(SCAN_PARAMETERS) { other_scan(0, SCAN_ARGUMENTS); }
static void other_second(SCAN_PARAMETERS) { other_scan(1, SCAN_ARGUMENTS); }

/* Sets a function that each of these hooks calls before and after it calls the previous hook. */
void test_other_body(void (*body)(void)) { other_body = body; }

/* Installs the hook of the first or the second such library. */
void test_install_other(int second) {
  previous_scan_roots[second] = caml_scan_roots_hook;
  caml_scan_roots_hook = second ? other_second : other_first;
}

size_t test_other_scans(int second) { return other_scans[second]; }

/* OCaml 5: marks everything that is reachable from the roots of this cycle. On OCaml 4 no slot
   waits for that. */
void test_finish_marking(void) {
#if OCAML_VERSION >= 50000
  caml_finish_marking();
#endif
}

/* ---- the collector of OCaml 4 ---- */

#if OCAML_VERSION >= 50000
void test_begin_cycle(void) {}
void test_take_major_hook(bool take) { (void)take; }
void test_page_is_in_heap(void *page, bool is_in_heap) { (void)page, (void)is_in_heap; }
#else
/* Begins a major cycle if none is under way, and makes no garbage. */
void test_begin_cycle(void) {
  caml_minor_collection();
  if (caml_gc_phase == Phase_idle) caml_major_collection_slice(0);
}

/* Removes the hook between marking and sweeping, or restores it. */
void test_take_major_hook(bool take) {
  static void (*hook)(void);
  if (take) hook = caml_major_gc_hook;
  caml_major_gc_hook = take ? NULL : hook;
}

/* Makes the collector treat a page of 4096 bytes as a part of the heap, or not. */
void test_page_is_in_heap(void *page, bool is_in_heap) {
  int (*change)(int, void *, void *) = is_in_heap ? caml_page_table_add : caml_page_table_remove;
  if (change(In_heap, page, (char *)page + 4096) != 0) abort();
}
#endif

/* ---- the termination events of OCaml 4's threads ---- */

#if OCAML_VERSION >= 50000
void test_set_event_status(int status) { (void)status; }
void test_rename_events(bool rename) { (void)rename; }
void test_count_destroyed_events(void) {}
size_t test_destroyed_events(void) { return 0; }
#else
value caml_thread_self(value unit);

/* The custom block to which a thread's descriptor refers. */
static value this_event(void) { return Field(caml_thread_self(Val_unit), 2); }

/* Sets the status of the calling thread's event, which comes after a mutex. */
void test_set_event_status(int status) {
  *(int *)(*(char **)Data_custom_val(this_event()) + sizeof(pthread_mutex_t)) = status;
}

/* Gives events another name, or restores their own. */
void test_rename_events(bool rename) {
  struct custom_operations *operations = Custom_ops_val(this_event());
  static char const *name;
  if (rename) name = operations->identifier;
  operations->identifier = rename ? "boxroot.test.event" : name;
}

static void (*destroy_event)(value);
static size_t destroyed_events;
static void count_and_destroy_event(value event) {
  destroyed_events++;
  destroy_event(event);
}

/* Counts events that OCaml frees from now on. To be called before boxroot_setup. */
void test_count_destroyed_events(void) {
  struct custom_operations *operations = Custom_ops_val(this_event());
  destroy_event = operations->finalize;
  operations->finalize = count_and_destroy_event;
}
size_t test_destroyed_events(void) { return destroyed_events; }
#endif

/* ---- threads that C registers with a domain (OCaml 5.5) ---- */

extern value caml_ml_domain_id(value unit) __attribute__((weak));
extern int caml_c_thread_register_in_domain(uintnat) __attribute__((weak));

/* The number of the calling thread's domain. */
size_t test_domain(void) { return Long_val(caml_ml_domain_id(Val_unit)); }
int test_register_in_domain(size_t domain) { return caml_c_thread_register_in_domain(domain); }

/* ---- a callback on any thread, as in first-steps-c.md ---- */

void on_event(void *listener) {
  bool has_lock = boxroot_lock_is_held();
  bool registered = !has_lock && caml_c_thread_register();
  if (!has_lock) caml_acquire_runtime_system();
  value result = caml_callback_exn(boxroot_get(listener), Val_unit);
  if (Is_exception_result(result)) fputs("a listener failed\n", stderr);
  if (!has_lock) caml_release_runtime_system();
  if (registered) caml_c_thread_unregister();
}

/* ---- calls from OCaml ---- */

/* Calls f, which raises: the exception jumps over this frame, and the frame's root is not
   deleted. */
value test_root_and_call(value f) {
  boxroot root = boxroot_create(caml_copy_string("lost"));
  caml_callback(f, Val_unit);
  boxroot_delete(root);
  return Val_unit;
}

/* A function of the crate ocaml-boxroot: raises the result if it is an encoded exception, else
   returns it. */
extern value ocaml_boxroot_finish(value result);

/* Calls the Rust function whose address is f. */
value test_call(value f, value argument) {
  return ocaml_boxroot_finish(((value(*)(value))Long_val(f))(argument));
}
