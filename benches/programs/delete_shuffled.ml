(* Like delete_old, but in random order of addresses. *)

open Loops

let () =
  Program.on_loops ~facts:Program.[ Short 1_000_000 ] "delete_shuffled"
    (delete_old_after (fun () -> shuffle (); finish_marking ()))
