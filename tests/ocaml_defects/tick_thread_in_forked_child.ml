(* Seen: 5.0-5.4 glibc 2.43. Effect: hang. *)

let fork () =
  match Unix.fork () with
  | 0 -> () (* this thread ends, and the child with it *)
  | child -> ignore (Unix.waitpid [] child)

let () = Thread.join (Thread.create fork ())
