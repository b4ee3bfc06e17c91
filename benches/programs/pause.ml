(* Pauses with very many live roots. *)

open Measure
open Many_roots

(* The effect of slices and of the start of a cycle on a program: in each major cycle, the longest of many short
   stretches of work that allocates; and the mean of these. In a single cycle, slices and minor collections coincide
   by chance, so a few roots more or fewer change the longest stretch. *)
let longest_stretch cycles =
  let kept = Array.make 100_000 (ref 0) in
  let next = ref 0 in
  let stretch () =
    for _ = 1 to 100 do
      kept.(!next) <- ref 0;
      next := if !next = Array.length kept - 1 then 0 else !next + 1
    done
  in
  let longest_of_cycle () =
    let last = major_collections () + 1 and longest = ref 0. in
    while major_collections () < last do
      for _ = 1 to 100 do longest := max !longest (time stretch) done
    done;
    !longest
  in
  let sum = ref 0. in
  for _ = 1 to cycles do sum := !sum +. longest_of_cycle () done;
  !sum /. float cycles

let run (module C : Cell.S) =
  let module M = Make (C) in
  let cells, print_longest_hook = M.watched (size 10_000_000) in
  Gc.full_major ();
  print_longest_hook ();
  let young = ref [] and longest = ref 0. in
  for _ = 1 to 50 do
    for i = 1 to 100 do young := C.create (ref i) :: !young done;
    longest := max !longest (time Gc.minor)
  done;
  print "longest_minor" !longest;
  print_ten_majors ();
  print "longest_pause" (longest_stretch (Parameters.int "CYCLES" 20));
  ignore (Sys.opaque_identity (cells, young))

let () = Program.on_cells ~facts:Program.[ About "longest_pause"; Short 1_000_000 ] "pause" run
