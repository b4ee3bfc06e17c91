(* The fixpoint of a function on floats, computed outside OCaml by recursion (local_roots.c, or
   benches/runtime/cell.h): the cost of rooting along a chain of n calls. *)

(* SIZE calls of f in all, in chains of N. *)
let run fixpoint () =
  let n = Parameters.int "N" 10 and size = Parameters.int "SIZE" 100_000_000 in
  let f x = if truncate x >= n then x else x +. 1. in
  let times = size / n in
  let go () = for _ = 1 to times do assert (fixpoint f 1. = float n) done in
  let seconds = Measure.time go in
  Measure.print "seconds" seconds;
  Measure.print "ns_per_call" (1e9 *. seconds /. float (times * n))

let () =
  let on (fixpoint : Implementations.fixpoint) =
    (fixpoint.name, fun () -> Program.set_up fixpoint.set_up; run fixpoint.compute ())
  in
  Program.register ~facts:Program.[ Deterministic; Short 10_000_000 ] "local_roots"
    (List.map on Implementations.fixpoints)
