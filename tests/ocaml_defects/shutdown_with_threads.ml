(* Seen: 4.13-4.14 5.4-5.5. Effect: hang. Run: OCAMLRUNPARAM=c=1. *)

let wait () =
  let mutex = Mutex.create () and never = Condition.create () in
  Mutex.lock mutex;
  while true do Condition.wait never mutex done

let () =
  ignore (Thread.create wait ());
  Thread.delay 0.1
