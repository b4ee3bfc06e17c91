/* One hook for root scans, with the same interface on OCaml 4 and 5. On OCaml 5 the runtime calls
   it on all domains at the same time. Only domain 0 scans, because it never ends. */
#ifndef BENCH_HOOK_H
#define BENCH_HOOK_H

#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <stdbool.h>

#include <caml/mlvalues.h>

#include <caml/roots.h>
#include <caml/version.h>

struct scan {
  bool minor; /* only values of the minor heap matter */
  scanning_action action;
  void *data;
};

static inline void scan_word(struct scan const *scan, value *word) {
#if OCAML_VERSION >= 50000
  scan->action(scan->data, *word, word);
#else
  scan->action(*word, word);
#endif
}

/* Makes root scans call this function from now on. To be called only once in a program. */
void scan_with(void (*function)(struct scan const *));

#endif
