(* Like delete_old_marking, but timed with the work around it: sweeping, the start of the cycle that marks
   the roots, and the marking that is left after the deletes. *)

open Loops

let run () =
  let n = size 10_000_000 in
  let values = old_roots n in
  finish_marking ();
  print n (fun () -> Gc.major (); delete (); finish_marking ());
  ignore (Sys.opaque_identity values)

let () = Program.on_loops ~facts:Program.[ Short 1_000_000 ] "mark_and_delete_old" run
