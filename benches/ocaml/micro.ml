(* Single operations, in loops that are compiled with the implementation's fast paths inlined: in C
   (benches/impls/cell.h) or Rust (benches/programs/rust.rs). *)

external select : string -> unit = "bench_select"
external reserve : int -> unit = "bench_reserve"
external pairs : int -> unit = "bench_pairs" [@@noalloc]
external batches : int -> int -> unit = "bench_batches" [@@noalloc]
external create : 'a array -> unit = "bench_create" [@@noalloc]
external get : int -> unit = "bench_get" [@@noalloc]
external modify : 'a -> int -> unit = "bench_modify" [@@noalloc]
external delete : unit -> unit = "bench_delete" [@@noalloc]
external shuffle : unit -> unit = "bench_shuffle" [@@noalloc]
external finish_marking : unit -> unit = "bench_finish_marking"

let implementations =
  [ "boxroot"; "global"; "generational"; "dll_boxroot"; "rem_boxroot"; "bitmap_boxroot"; "rust_raw" ]
  @ List.map (fun (module C : Cell.S) -> C.name) Variants.cells
  @ Variants.rust

let batch = 1000
let size = Parameters.int "SIZE"

(* [operations] in all, timed. *)
let print operations f =
  let seconds = Measure.time f in
  Measure.print "seconds" seconds;
  Measure.print "ns_per_operation" (1e9 *. seconds /. float operations)

let pair () = let n = size 100_000_000 in print n (fun () -> pairs n)

(* Creates 1000, then deletes them. *)
let batches () = let n = size 100_000 in reserve batch; print (n * batch) (fun () -> batches n batch)

let young_roots n = reserve n; create (Array.init n Fun.id)

let old_roots n =
  let values = Array.init n (fun _ -> ref 0) in
  Gc.full_major ();
  reserve n;
  create values;
  Gc.full_major ();
  Gc.full_major ();
  values

let get () =
  let n = size 100_000 in
  young_roots batch;
  print (n * batch) (fun () -> get n)

let modify_young () =
  let n = size 100_000 in
  young_roots batch;
  print (n * batch) (fun () -> modify 0 n)

let modify_old () =
  let n = size 100_000 in
  let values = old_roots batch in
  finish_marking ();
  print (n * batch) (fun () -> modify values.(0) n)

(* Right after a full major collection a new cycle has begun, so the roots are being marked. *)
let delete_old_marking () =
  let n = size 10_000_000 in
  let values = old_roots n in
  print n delete;
  ignore (Sys.opaque_identity values)

(* The same, and the work around it: sweeping, the start of the cycle that marks the roots, and
   marking what the deletes have not marked. *)
let mark_and_delete_old () =
  let n = size 10_000_000 in
  let values = old_roots n in
  finish_marking ();
  print n (fun () -> Gc.major (); delete (); finish_marking ());
  ignore (Sys.opaque_identity values)

(* When all is marked and the cycle has not ended. *)
let delete_old order () =
  let n = size 10_000_000 in
  let values = old_roots n in
  if order = `Shuffled then shuffle ();
  finish_marking ();
  print n delete;
  ignore (Sys.opaque_identity values)

let programs =
  [ ("pair", pair); ("batch", batches); ("get", get); ("modify_young", modify_young);
    ("modify_old", modify_old); ("delete_old", delete_old `In_order);
    ("delete_shuffled", delete_old `Shuffled); ("delete_old_marking", delete_old_marking);
    ("mark_and_delete_old", mark_and_delete_old) ]
