(* Changes 1000 old roots again and again, to an old value. *)

open Loops

let run () =
  let n = size 100_000 in
  let values = old_roots batch in
  finish_marking ();
  print (n * batch) (fun () -> modify values.(0) n)

let () = Program.on_loops ~facts:Program.[ Short 10_000 ] "modify_old" run
