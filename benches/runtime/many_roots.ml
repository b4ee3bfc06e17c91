(* For programs with very many live roots: cache.ml, delete_pause.ml, majors.ml, memory.ml, pause.ml. *)

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

let print_ten_majors () =
  Measure.print "ten_majors" (Measure.time (fun () -> for _ = 1 to 10 do Gc.major () done))

module Make (Cell : Cell.S) = struct
  let room n : int ref Cell.t array = Array.make n (Obj.magic 0)

  (* n roots on n blocks of the major heap, in random order of memory. *)
  let random n =
    let cells = room n in
    let values = Array.init n (fun i -> ref i) in
    Gc.full_major ();
    Array.iteri (fun i j -> cells.(i) <- Cell.create values.(j)) (shuffled n);
    cells

  (* The same, and a function that prints the longest scan of the roots in a major cycle from now on. A cycle
     has just begun. *)
  let watched n =
    let cells = random n in
    Gc.full_major ();
    let has_hook = watch_hook () in
    Gc.full_major ();
    (cells, fun () -> if has_hook then Measure.print "longest_major_hook" (longest_major_hook ()))
end
