/* SPDX-License-Identifier: MIT */
/* The whole library: this file is what is compiled, with -Iinclude and the folder of OCaml's
   headers (ocamlopt -where). Each file below can also be compiled alone, as for the fuzzer and the
   mutants. The macros are those that one or another file needs: here each header is included only
   once. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define CAML_INTERNALS
#define CAML_NAME_SPACE

/* Before OCaml's headers: on Windows, these make printf forget %zu. */
#include <inttypes.h>
#include <stdio.h>

#include "src/os.c"
#include "src/uses.c"

#include "src/os_unwind.c"
#include "src/pool.c"

#include "src/barrier.c"

#include "src/domain.c"

#include "src/release.c"
#include "src/stacks.c"
#include "src/waiting.c"

#include "src/profile.c"
#include "src/remote.c"

#include "src/orphans.c"

#include "src/setup.c"

#include "src/alloc.c"
#include "src/bulk.c"
#include "src/scan.c"
#include "src/stats.c"
#include "src/trim.c"
#include "src/validate.c"

#include "src/runtime_ocaml4.c"
#include "src/runtime_ocaml5.c"
#include "src/check.c"

#include "src/plain_names.c"

#include "src/os_windows.c" /* the last: what Windows' headers define is for this file only */
