(* Seen: 5.1-5.5. Effect: wrong. *)

let () =
  let set () = Gc.set { (Gc.get ()) with stack_limit = 0 } in
  Domain.join (Domain.spawn set);
  Domain.join (Domain.spawn ignore)
