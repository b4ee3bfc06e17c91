(* Seen: 5.2.0. Effect: wrong. *)

let () =
  let called = ref false in
  let alarm = Gc.create_alarm (fun () -> called := true) in
  Gc.full_major ();
  Gc.full_major ();
  Gc.delete_alarm alarm;
  if not !called then exit 1
