(* Deletes very many roots when a cycle has just begun and still has to mark them; then runs two cycles. *)

open Measure
open Many_roots

let run (module C : Cell.S) =
  let module M = Make (C) in
  let cells, print_longest_hook = M.watched (size 10_000_000) in
  Array.iter C.delete cells;
  let longest = ref 0. and last = major_collections () + 2 in
  while major_collections () < last do
    longest := max !longest (time Gc.minor);
    ignore (Gc.major_slice 100_000)
  done;
  print "longest_minor" !longest;
  print_longest_hook ()

let () =
  Program.on_cells ~facts:Program.[ About "longest_minor"; Short 1_000_000 ] "delete_pause" run
