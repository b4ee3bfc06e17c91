(* Deletes old roots right after a full major collection: a new cycle has begun, and is marking them. *)

let () =
  Program.on_loops ~facts:Program.[ Short 1_000_000 ] "delete_old_marking" (Loops.delete_old_after ignore)
