/* A C program that embeds OCaml, and keeps OCaml closures in roots. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxroot.h>
#include <caml/alloc.h>
#include <caml/callback.h>

#if BOXROOT_VERSION < 401 || BOXROOT_VERSION_MAJOR != 0
#error "this is another boxroot"
#endif

enum { COUNTERS = 1000 };

static void fail(char const *what) {
  fprintf(stderr, "%s: %s\n", what, boxroot_error_string());
  exit(1);
}

int main(int argc, char **argv) {
  (void)argc;
  caml_startup(argv);
  if (!boxroot_setup()) fail("setup");
  boxroot counters[COUNTERS];
  value const *counter = caml_named_value("counter");
  for (int i = 0; i < COUNTERS; i++) {
    value word = caml_copy_string("called");
    counters[i] = boxroot_create(caml_callback(*counter, word));
    if (counters[i] == NULL) fail("create");
  }
  for (int call = 1; call <= 3; call++) {
    char expected[20];
    snprintf(expected, sizeof expected, "called %d", call);
    for (int i = 0; i < COUNTERS; i++) {
      value text = caml_callback(boxroot_get(counters[i]), Val_unit);
      if (strcmp(String_val(text), expected) != 0) fail("another value");
    }
  }
  for (int i = 0; i < COUNTERS; i++) boxroot_delete(counters[i]);
  boxroot_teardown();
  puts("three calls of each closure");
  return 0;
}
