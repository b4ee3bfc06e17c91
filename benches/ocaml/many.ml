(* Very many live roots: pauses and memory. *)

open Measure

external watch_hook : unit -> bool = "bench_watch_hook"
external longest_major_hook : unit -> float = "bench_longest_major_hook"

let size = Parameters.int "SIZE"

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

let major_collections () = (Gc.quick_stat ()).major_collections

module Make (Cell : Cell.S) = struct
  let room n : int ref Cell.t array = Array.make n (Obj.magic 0)

  (* n roots on n blocks of the major heap, in random order of memory. *)
  let random_roots n =
    let cells = room n in
    let values = Array.init n (fun i -> ref i) in
    Gc.full_major ();
    Array.iteri (fun i j -> cells.(i) <- Cell.create values.(j)) (shuffled n);
    cells

  let ten_majors () = print "ten_majors" (time (fun () -> for _ = 1 to 10 do Gc.major () done))

  let majors () =
    let cells = random_roots (size 1_000_000) in
    ten_majors ();
    ignore (Sys.opaque_identity cells)

  (* The longest of many short stretches of work that allocates, over two major cycles: what a
     program would notice of a slice or of the start of a cycle. *)
  let longest_stretch () =
    let kept = Array.make 100_000 (ref 0) in
    let next = ref 0 and longest = ref 0. in
    let stretch () =
      for _ = 1 to 100 do
        kept.(!next) <- ref 0;
        next := if !next = Array.length kept - 1 then 0 else !next + 1
      done
    in
    let last = major_collections () + 2 in
    while major_collections () < last do
      for _ = 1 to 100 do longest := max !longest (time stretch) done
    done;
    !longest

  let pause () =
    let cells = random_roots (size 10_000_000) in
    Gc.full_major ();
    let has_hook = watch_hook () in
    Gc.full_major ();
    Gc.full_major ();
    if has_hook then print "longest_major_hook" (longest_major_hook ());
    let young = ref [] and longest = ref 0. in
    for _ = 1 to 50 do
      for i = 1 to 100 do young := Cell.create (ref i) :: !young done;
      longest := max !longest (time Gc.minor)
    done;
    print "longest_minor" !longest;
    ten_majors ();
    print "longest_pause" (longest_stretch ());
    ignore (Sys.opaque_identity (cells, young))

  let memory () =
    let n = size 10_000_000 in
    let values = Array.init n (fun _ -> ref 0) and cells = room n in
    let create i = cells.(i) <- Cell.create values.(i) in
    Gc.full_major ();
    let before = resident () in
    for i = 0 to n - 1 do create i done;
    Variants.check_pools Cell.name n;
    let full = resident () - before in
    print "bytes_per_root" (float full /. float n);
    Random.init 3;
    let deleted = Array.init n (fun _ -> Random.int 4 <> 0) in
    let grown = resident () - before - full in
    Array.iteri (fun i deleted -> if deleted then Cell.delete cells.(i)) deleted;
    Array.iteri (fun i deleted -> if deleted then create i) deleted;
    print "growth_after_refill" (float (resident () - before - grown) /. float full);
    for i = 0 to n - 1 do Cell.delete cells.(i); cells.(i) <- Obj.magic 0 done;
    Gc.full_major ();
    Gc.full_major ();
    print "given_back" (1. -. (float (resident () - before - grown) /. float full));
    ignore (Sys.opaque_identity (values, cells, deleted))
end

let pause (module C : Cell.S) = let module M = Make (C) in M.pause ()
let majors (module C : Cell.S) = let module M = Make (C) in M.majors ()
let memory (module C : Cell.S) = let module M = Make (C) in M.memory ()
