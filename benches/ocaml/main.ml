(* Runs one program on one implementation, as BENCH and IMPL say, and prints what it measured
   as lines "name value". Times are in seconds, sizes in bytes. *)

external setup : unit -> unit = "bench_setup"
external clock : unit -> float = "bench_clock"
external resident : unit -> int = "bench_resident"
external micro : string -> int -> unit = "bench_micro"
external watch_hook : unit -> unit = "bench_watch_hook"
external longest_major_hook : unit -> float = "bench_longest_major_hook"
external reserve : int -> unit = "bench_reserve"
external roots : 'a array -> int array -> unit = "bench_roots"
external delete_in_order : int -> int -> unit = "bench_delete" [@@noalloc]
external delete_where : (int -> bool) -> unit = "bench_delete_where"
external finish_marking : unit -> unit = "bench_finish_marking"
external refill : unit -> int = "bench_refill"

let print name x = Printf.printf "%s %.9f\n%!" name x
let time f = let t = clock () in f (); clock () -. t

let implementation () =
  let name = try Sys.getenv "IMPL" with Not_found -> "boxroot" in
  try Cell.find name with Not_found ->
    let names = List.map (fun (module C : Cell.S) -> C.name) Cell.all in
    failwith (Printf.sprintf "IMPL=%s: choose one of %s" name (String.concat " " names))

let shuffled n =
  let a = Array.init n Fun.id in
  let state = Random.State.make [| 7 |] in
  for i = n - 1 downto 1 do
    let j = Random.State.full_int state (i + 1) in
    let x = a.(i) in
    a.(i) <- a.(j);
    a.(j) <- x
  done;
  a

(* n roots on n blocks of the major heap, in random order of memory. *)
let random_roots n =
  let values = Array.init n (fun i -> ref i) in
  Gc.full_major ();
  reserve n;
  roots values (shuffled n)

(* The longest of several minor collections with few young roots, over many old ones. *)
let pause n =
  random_roots n;
  Gc.full_major ();
  watch_hook ();
  Gc.full_major ();
  Gc.full_major ();
  print "longest_major_hook" (longest_major_hook ());
  let longest = ref 0. in
  for _ = 1 to 50 do
    micro "few_young" 100;
    longest := max !longest (time Gc.minor)
  done;
  print "longest_minor" !longest;
  print "ten_majors" (time (fun () -> for _ = 1 to 10 do Gc.major () done))

let memory n =
  let values = Array.init n (fun _ -> ref 0) and order = Array.init n Fun.id in
  Gc.full_major ();
  reserve n;
  let before = resident () in
  roots values order;
  let full = resident () - before in
  print "bytes_per_root" (float full /. float n);
  Random.init 3;
  delete_where (fun _ -> Random.int 4 <> 0);
  ignore (refill ());
  print "growth_after_refill" (float (resident () - before) /. float full);
  delete_in_order 0 n;
  Gc.full_major ();
  Gc.full_major ();
  print "given_back" (1. -. (float (resident () - before) /. float full));
  ignore (Sys.opaque_identity (values, order))

let majors n =
  random_roots n;
  print "ten_majors" (time (fun () -> for _ = 1 to 10 do Gc.major () done))

let old_roots n =
  let values = Array.init n (fun _ -> ref 0) in
  reserve n;
  roots values (Array.init n Fun.id);
  Gc.full_major ();
  Gc.full_major ();
  values

let time_deletes n values =
  print "seconds" (time (fun () -> delete_in_order 0 n));
  ignore (Sys.opaque_identity values)

(* Right after a full major collection a new cycle has begun, so the roots are being marked. *)
let delete_old_marking n = time_deletes n (old_roots n)

(* When all is marked and the cycle has not ended. *)
let delete_old n =
  let values = old_roots n in
  finish_marking ();
  time_deletes n values

let () =
  setup ();
  let (module C : Cell.S) = implementation () in
  let module P = Perm_count.Make (C) in
  let module S = Synthetic.Make (C) in
  let module G = Globroots.Make (C) in
  let size default = Synthetic.int "SIZE" default in
  let programs =
    [ ("perm_count", fun () -> let n = size 10 in print "seconds" (time (fun () -> P.count n)));
      ("synthetic", fun () -> print "seconds" (time S.run));
      ("globroots", fun () -> let n = size 500_000 in print "seconds" (time (fun () -> G.run n)));
      ("pair", fun () -> print "seconds" (time (fun () -> micro "pair" (size 100_000_000))));
      ("batch", fun () -> print "seconds" (time (fun () -> micro "batch" (size 100_000))));
      ("pause", fun () -> pause (size 10_000_000));
      ("memory", fun () -> memory (size 10_000_000));
      ("majors", fun () -> majors (size 1_000_000));
      ("delete_old", fun () -> delete_old (size 10_000_000));
      ("delete_old_marking", fun () -> delete_old_marking (size 10_000_000)) ]
  in
  let name = try Sys.getenv "BENCH" with Not_found -> "" in
  match List.assoc_opt name programs with
  | None ->
    failwith
      (Printf.sprintf "BENCH=%s: choose one of %s" name (String.concat " " (List.map fst programs)))
  | Some program ->
    program ();
    let s = Gc.quick_stat () in
    print "minor_collections" (float s.minor_collections);
    print "major_collections" (float s.major_collections)
