/* SPDX-License-Identifier: MIT */
/* Backtraces of exceptions, if OCaml records them (Printexc.record_backtrace, OCAMLRUNPARAM=b). */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <stdio.h>

#include <caml/mlvalues.h>

#include <caml/backtrace.h>
#include <caml/backtrace_prim.h>
#include <caml/domain.h>
#include <caml/version.h>

#include "obx.h"

/* Whether OCaml records backtraces. Needs the lock. */
intnat obx_records_backtraces(void) { return Caml_state->backtrace_active; }

/* The number of slots in the backtrace of this exception, which a callback has just returned.
   `*slots` is valid until OCaml code runs. Needs the lock. Returns 0 in bytecode, which reads the
   text of a slot from the program's file into OCaml's heap. */
size_t obx_backtrace(value exception, backtrace_slot const **slots) {
  if (obx_in_bytecode()) return 0;
  /* After raise_notrace, this is the backtrace of another exception, or of an earlier raise of this
     one. */
  if (Caml_state->backtrace_last_exn != exception || Caml_state->backtrace_buffer == NULL) return 0;
  *slots = Caml_state->backtrace_buffer;
  intnat count = Caml_state->backtrace_pos;
  return count < BACKTRACE_BUFFER_SIZE ? (size_t)count : BACKTRACE_BUFFER_SIZE;
}

/* Prints a line like those of Printexc. */
static void print_location(FILE *to, debuginfo info, int is_first) {
  struct caml_loc_info at;
  caml_debuginfo_location(info, &at);
  if (!at.loc_valid) return; /* compiled without -g, or raised by code that the compiler added */
  char const *what = at.loc_is_raise ? (is_first ? "Raised at" : "Re-raised at")
                     : is_first      ? "Raised by primitive operation at"
                                     : "Called from";
  fprintf(to, "%s %s in file \"%s\"%s, ", what, at.loc_defname, at.loc_filename,
          at.loc_is_inlined ? " (inlined)" : "");
#if OCAML_VERSION >= 50200
  int first = at.loc_start_lnum, last = at.loc_end_lnum;
  int begin = at.loc_start_chr, end = at.loc_end_chr;
#else
  int first = at.loc_lnum, last = first;
  int begin = at.loc_startchr, end = at.loc_endchr;
#endif
  if (first == last)
    fprintf(to, "line %d, characters %d-%d\n", first, begin, end);
  else
    fprintf(to, "lines %d-%d, characters %d-%d\n", first, last, begin, end);
}

/* The text of a backtrace, for free(); NULL if memory ran out. Needs the lock. */
char *obx_backtrace_text(backtrace_slot const *slots, size_t count) {
  char *text = NULL;
  size_t length;
  FILE *to = open_memstream(&text, &length);
  if (to == NULL) return NULL;
  for (size_t i = 0; i < count; i++) {
    debuginfo info = caml_debuginfo_extract(slots[i]);
    for (; info != NULL; info = caml_debuginfo_next(info)) print_location(to, info, i == 0);
  }
  fclose(to);
  return text;
}
