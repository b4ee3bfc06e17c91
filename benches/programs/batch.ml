(* Creates 1000 roots, then deletes them, again and again. *)

open Loops

let run () =
  let n = size 100_000 in
  reserve batch;
  print (n * batch) (fun () -> batches n batch)

let () = Program.on_loops ~facts:Program.[ Short 10_000 ] "batch" run
