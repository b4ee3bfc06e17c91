(* Single operations of the selected implementation, in loops that are compiled with its fast paths
   inlined: in C (cell.h) or Rust (benches/executables/rust.rs). *)

external reserve : int -> unit = "bench_reserve"
external pairs : int -> unit = "bench_pairs" [@@noalloc]
external batches : int -> int -> unit = "bench_batches" [@@noalloc]
external create : 'a array -> unit = "bench_create" [@@noalloc]
external get : int -> unit = "bench_get" [@@noalloc]
external modify : 'a -> int -> unit = "bench_modify" [@@noalloc]
external delete : unit -> unit = "bench_delete" [@@noalloc]
external shuffle : unit -> unit = "bench_shuffle" [@@noalloc]
external finish_marking : unit -> unit = "bench_finish_marking"

let batch = 1000
let size = Parameters.int "SIZE"

(* Prints the time of each of [operations] operations. *)
let print_seconds operations seconds =
  Measure.print "seconds" seconds;
  Measure.print "ns_per_operation" (1e9 *. seconds /. float operations)

(* Times f, which makes this many operations. *)
let print operations f = print_seconds operations (Measure.time f)

let young_roots n = reserve n; create (Array.init n Fun.id)

(* Creates roots for n values of the major heap, and returns the values. *)
let old_roots n =
  let values = Array.init n (fun _ -> ref 0) in
  Gc.full_major ();
  reserve n;
  create values;
  Gc.full_major ();
  Gc.full_major ();
  values

(* Creates n old roots, calls [prepare], and times deleting the roots. *)
let delete_old_after prepare () =
  let n = size 10_000_000 in
  let values = old_roots n in
  prepare ();
  print n delete;
  ignore (Sys.opaque_identity values)
