(* Reads 1000 roots again and again. *)

open Loops

let run () =
  let n = size 100_000 in
  young_roots batch;
  print (n * batch) (fun () -> get n)

let () = Program.on_loops ~facts:Program.[ Short 10_000 ] "get" run
