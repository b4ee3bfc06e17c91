(* Takes the lock on a thread that OCaml knows, and releases it, again and again. *)

let run attaches () =
  let n = Parameters.int "SIZE" 10_000_000 in
  Measure.print_time (fun () -> attaches n)

let () =
  Program.register "attach" (List.map (fun (name, f) -> (name, run f)) Implementations.attaches)
