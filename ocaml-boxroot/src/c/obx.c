/* SPDX-License-Identifier: MIT */
/* All of the C code, in one file for build.rs. Each file below can also be compiled alone. The
   macros are those that any of the files needs, because each header is included only once here. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define CAML_INTERNALS
#define CAML_NAME_SPACE

#include "alloc.c"
#include "backtrace.c"
#include "bigarray.c"
#include "box.c"
#include "call.c"
#include "closure.c"
#include "form.c"
#include "handlers.c"
#include "runtime.c"
#include "signals.c"
#include "stack.c"
#include "start.c"
#include "thread_name.c"
#include "threads.c"
#include "ticks.c"
#include "weak.c"
