(* Thread is initialised after Listeners, which has set boxroot up. *)
let told = Atomic.make 0

let work () =
  for _ = 1 to 100 do
    let listeners = Listeners.create () in
    for _ = 1 to 10 do Listeners.add listeners (fun text -> if text = "x" then Atomic.incr told) done;
    Thread.yield ();
    Listeners.tell listeners "x"
  done

let () =
  List.iter Thread.join (List.init 4 (fun _ -> Thread.create work ()));
  Gc.full_major ();
  Gc.full_major ();
  Boxroot.validate ();
  if Atomic.get told <> 4000 then failwith "listeners are missing";
  if Boxroot.live_roots () >= 1000 then failwith "finalisers did not delete the roots";
  print_endline "late threads: passed"
