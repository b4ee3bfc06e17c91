(* Seen: 4.13-5.5. Effect: hang. *)

let wait () =
  let mutex = Mutex.create () and never = Condition.create () in
  Mutex.lock mutex;
  while true do Condition.wait never mutex done

let () =
  ignore (Thread.create wait ());
  Thread.delay 0.1;
  match Unix.fork () with
  | 0 -> Gc.full_major (); print_endline "not reached"
  | child -> ignore (Unix.waitpid [] child)
