/* SPDX-License-Identifier: MIT */
/* A compaction runs the finaliser of a custom block that owns a root, in a pool that was handed over by a
   domain that has ended: the delete must not darken, because colours mean something else then. */
#define CAML_INTERNALS
#include <boxroot.h>
#include <caml/custom.h>
#include <caml/alloc.h>
#include <caml/memory.h>
#include <caml/major_gc.h>
static long finalised;
static void fin(value v) { finalised++; boxroot_delete(*(boxroot *)Data_custom_val(v)); }
static struct custom_operations ops = {"x", fin, custom_compare_default, custom_hash_default, custom_serialize_default, custom_deserialize_default, custom_compare_ext_default, custom_fixecompaction_length_default};
value compaction_create(value v) { return (value)boxroot_create(v) | 1; }
value compaction_delete(value r) { boxroot_delete((boxroot)(r & ~1)); return Val_unit; }
value compaction_owner(value r) { value v = caml_alloc_custom(&ops, 8, 0, 1); *(boxroot *)Data_custom_val(v) = (boxroot)(r & ~1); return v; }
value compaction_finish(value compact) { caml_finish_major_cycle(Int_val(compact)); return Val_unit; }
value compaction_finalised(value u) { return Val_long(finalised); }
