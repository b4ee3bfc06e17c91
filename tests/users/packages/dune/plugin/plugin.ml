let () =
  let listeners = Listeners.create () in
  Listeners.add listeners (fun text -> print_endline (text ^ ": passed"));
  Gc.compact ();
  Listeners.tell listeners "plugin"
