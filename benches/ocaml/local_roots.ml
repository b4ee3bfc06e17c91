(* The fixpoint of a function on floats, computed outside OCaml by recursion (benches/impls/cell.h,
   benches/c/local_roots.c): what rooting costs along a chain of n calls. *)

external local : (float -> float) -> float -> float = "local_fixpoint"
external naive : (float -> float) -> float -> float = "naive_fixpoint"
external global : (float -> float) -> float -> float = "global_fixpoint"
external generational : (float -> float) -> float -> float = "generational_fixpoint"
external boxroot : (float -> float) -> float -> float = "boxroot_fixpoint"
external dll_boxroot : (float -> float) -> float -> float = "dll_boxroot_fixpoint"
external rem_boxroot : (float -> float) -> float -> float = "rem_boxroot_fixpoint"
external bitmap_boxroot : (float -> float) -> float -> float = "bitmap_boxroot_fixpoint"

let fixpoints =
  [ ("local", local); ("naive", naive); ("global", global); ("generational", generational);
    ("boxroot", boxroot); ("dll_boxroot", dll_boxroot); ("rem_boxroot", rem_boxroot);
    ("bitmap_boxroot", bitmap_boxroot) ]
  @ Variants.fixpoints

(* SIZE calls of f in all, in chains of N. *)
let run fixpoint () =
  let n = Parameters.int "N" 10 and size = Parameters.int "SIZE" 100_000_000 in
  let f x = if truncate x >= n then x else x +. 1. in
  let times = size / n in
  let go () = for _ = 1 to times do assert (fixpoint f 1. = float n) done in
  let seconds = Measure.time go in
  Measure.print "seconds" seconds;
  Measure.print "ns_per_call" (1e9 *. seconds /. float (times * n))
