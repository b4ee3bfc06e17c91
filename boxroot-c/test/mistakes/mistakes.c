/* SPDX-License-Identifier: MIT */
/* Mistakes, by name. mistakes.py has the expected messages. It finds lines here by the comments at
   their ends. */
#include <boxroot.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <caml/signals.h>

value make_mistake(value name);
void without_sites(void); /* in members.c */

static void deleted_twice(void) {
  boxroot r = boxroot_create(Val_true); /* deleted_twice created */
  boxroot_delete(r);                    /* deleted_twice deleted */
  boxroot_delete(r);                    /* deleted_twice here */
}

static void read_after_delete(void) {
  boxroot r = boxroot_create(Val_true); /* read_after_delete created */
  boxroot_delete(r);                    /* read_after_delete deleted */
  (void)boxroot_get(r);                 /* read_after_delete here */
}

static void modified_after_delete(void) {
  boxroot r = boxroot_create(Val_true); /* modified_after_delete created */
  boxroot_delete(r);                    /* modified_after_delete deleted */
  boxroot_modify(&r, Val_false);        /* modified_after_delete here */
}

static void copied_before_modify(void) {
  boxroot r = boxroot_create(Val_true); /* copied_before_modify created */
  boxroot copy = r;
  boxroot_modify(&r, Val_false); /* copied_before_modify deleted */
  (void)boxroot_get(copy);       /* copied_before_modify here */
}

static void read_of_null(void) {
  (void)*(value volatile const *)boxroot_get_ref(NULL); /* read_of_null here */
}

/* Memory that looks like a pool, but is not one. */
static void deleted_pointer(void) {
  value *memory = aligned_alloc(16384, 32768);
  memset(memory, 0, 32768);
  boxroot_delete((boxroot)&memory[1024]); /* deleted_pointer here */
}

/* The kind of value that caml_callback_exn returns for an exception. */
static void root_of_exception(void) {
  static value exception[2];
  boxroot_create((value)exception | 2); /* root_of_exception here */
}

static void root_of_zero(void) {
  value forgotten = 0;
  boxroot_create(forgotten); /* root_of_zero here */
}

static void read_without_lock(void) {
  boxroot r = boxroot_create(Val_true);
  caml_enter_blocking_section();
  (void)boxroot_get(r); /* read_without_lock here */
  caml_leave_blocking_section();
}

static void *use_domain(void *domain) {
  boxroot_create_in(domain, Val_true); /* domain_without_lock here */
  return NULL;
}

static void domain_without_lock(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, use_domain, boxroot_domain_self());
  pthread_join(thread, NULL);
}

static void read_after_teardown(void) {
  boxroot r = boxroot_create(Val_true);
  boxroot_teardown();
  (void)boxroot_get(r); /* read_after_teardown here */
}

static void leaked(void) {
  for (int i = 0; i < 3; i++) boxroot_create(Val_true); /* leaked created */
  boxroot_print_leaks();
}

/* Calls the functions as OCaml or another language does. */
static void through_a_pointer(void) {
  boxroot (*volatile create)(value) = boxroot_create;
  void (*volatile delete)(boxroot) = boxroot_delete;
  boxroot r = create(Val_true); /* through_a_pointer created */
  delete (r);                   /* through_a_pointer deleted */
  delete (r);                   /* through_a_pointer here */
}

/* Each object file that includes a header has its own string for the header's name. */
static void leaked_in_headers(void) {
#if BOXROOT_CHECKED
  static char const names[4][5] = {"a.h", "b.h", "ab.h", "a.h"};
  for (int i = 0; i < 4; i++) bxr_checked_create(Val_true, (struct bxr_site){names[i], 1, 0});
  bxr_checked_create(Val_true, (struct bxr_site){names[0], 2, 0});
#endif
  boxroot_print_leaks();
}

#define CHECK(e)                                                                                   \
  if (!(e)) fprintf(stderr, "check failed: %s\n", #e)

/* All operations, called once as C code does and once as another language does. */
static void no_mistake(void) {
  value const values[] = {Val_long(0), Val_long(1), Val_long(2)};
  boxroot (*volatile create_in)(boxroot_domain, value) = boxroot_create_in;
  void (*volatile delete_in)(boxroot_domain, boxroot) = boxroot_delete_in;
  bool (*volatile modify_in)(boxroot_domain, boxroot *, value) = boxroot_modify_in;
  bool (*volatile create_many)(boxroot_domain, boxroot *, value const *, size_t) =
    boxroot_create_many;
  void (*volatile delete_many)(boxroot_domain, boxroot const *, size_t) = boxroot_delete_many;
  bool (*volatile modify)(boxroot *, value) = boxroot_modify;
  value (*volatile get)(boxroot) = boxroot_get;
  value const *(*volatile get_ref)(boxroot) = boxroot_get_ref;
  boxroot_domain self = boxroot_domain_self();
  boxroot many[3], r = boxroot_create_in(self, values[0]), s = create_in(self, values[0]);
  CHECK(boxroot_get(r) == values[0] && get(s) == values[0]);
  CHECK(boxroot_modify_in(self, &r, values[1]) && modify_in(self, &s, values[1]));
  CHECK(*boxroot_get_ref(r) == values[1] && *get_ref(s) == values[1]);
  CHECK(boxroot_modify(&r, values[2]) && modify(&s, values[2]));
  CHECK(boxroot_get(r) == values[2] && get(s) == values[2]);
  boxroot_delete_in(self, r);
  delete_in(self, s);
  CHECK(boxroot_create_many(self, many, values, 3));
  for (int i = 0; i < 3; i++) CHECK(boxroot_get(many[i]) == values[i]);
  boxroot_delete_many(self, many, 3);
  CHECK(create_many(self, many, values, 3));
  for (int i = 0; i < 3; i++) CHECK(get(many[i]) == values[i]);
  delete_many(self, many, 3);
  boxroot_print_leaks();
}

#define MISTAKE(name)                                                                              \
  { #name, name }
static struct {
  char const *name;
  void (*make)(void);
} const mistakes[] = {
  MISTAKE(deleted_twice),        MISTAKE(read_after_delete),   MISTAKE(modified_after_delete),
  MISTAKE(copied_before_modify), MISTAKE(read_of_null),        MISTAKE(deleted_pointer),
  MISTAKE(root_of_exception),    MISTAKE(root_of_zero),        MISTAKE(read_without_lock),
  MISTAKE(domain_without_lock),  MISTAKE(read_after_teardown), MISTAKE(leaked),
  MISTAKE(through_a_pointer),    MISTAKE(without_sites),       MISTAKE(leaked_in_headers),
  MISTAKE(no_mistake),
};

value make_mistake(value name) {
  char const *broken;
  boxroot_setup();
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
    if (strcmp(String_val(name), mistakes[i].name) == 0) mistakes[i].make();
  broken = boxroot_validate();
  fprintf(stderr, "boxroot_validate: %s\n", broken == NULL ? "nothing" : broken);
  if (broken != NULL) _exit(0); /* a collection might loop in a broken list forever */
  return Val_unit;
}
