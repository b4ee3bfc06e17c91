(* Right after a full major collection a new cycle has begun, so the roots are being marked. *)

let () =
  Program.on_loops ~facts:Program.[ Short 1_000_000 ] "delete_old_marking" (Loops.delete_old_after ignore)
