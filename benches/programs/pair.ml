(* Creates and deletes at once. *)

let run () =
  let n = Loops.size 100_000_000 in
  Loops.print n (fun () -> Loops.pairs n)

let () = Program.on_loops "pair" run
