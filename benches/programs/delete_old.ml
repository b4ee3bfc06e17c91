(* Deletes old roots when everything is marked but the cycle has not ended. *)

open Loops

let () =
  Program.on_loops ~facts:Program.[ Short 1_000_000 ] "delete_old" (delete_old_after finish_marking)
