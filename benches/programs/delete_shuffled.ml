(* delete_old, in random order of memory. *)

open Loops

let () =
  Program.on_loops "delete_shuffled" (delete_old_after (fun () -> shuffle (); finish_marking ()))
