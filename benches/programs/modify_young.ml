(* Changes 1000 new roots again and again. *)

open Loops

let run () =
  let n = size 100_000 in
  young_roots batch;
  print (n * batch) (fun () -> modify 0 n)

let () = Program.on_loops ~facts:Program.[ Short 10_000 ] "modify_young" run
