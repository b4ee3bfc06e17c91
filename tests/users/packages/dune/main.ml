let check name ok = if not ok then failwith name

let told = Buffer.create 100

let talk () =
  let listeners = Listeners.create () in
  for i = 1 to 100 do
    Listeners.add listeners (fun text -> Printf.bprintf told "%s%d " text i)
  done;
  Gc.full_major ();
  Buffer.clear told;
  Listeners.tell listeners "x";
  check "all listeners were told" (Buffer.contents told = String.concat "" (List.init 100 (fun i -> Printf.sprintf "x%d " (i + 1))));
  check "roots are alive" (Boxroot.live_roots () >= 100)

let () =
  for _ = 1 to 100 do talk () done;
  Gc.full_major ();
  Gc.full_major ();
  check "finalisers deleted the roots" (Boxroot.live_roots () < 200);
  Boxroot.validate ();
  print_endline (match Sys.backend_type with Sys.Native -> "native: passed" | _ -> "bytecode: passed")
