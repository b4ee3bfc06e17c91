(* Creates a root and deletes it at once, again and again. *)

let run () =
  let n = Loops.size 100_000_000 in
  Loops.print n (fun () -> Loops.pairs n)

let () = Program.on_loops ~facts:Program.[ Short 10_000_000 ] "pair" run
