(* Rust keeps OCaml functions under names, and calls them. C stubs of the program also have roots. Both use the same
   allocator. *)
open Words

let () =
  Rust_bindings.register ();
  for i = 0 to 999 do
    define (string_of_int i) (fun x -> (x * 1000) + i)
  done;
  Gc.full_major ();
  for i = 0 to 999 do
    if apply (string_of_int i) i <> i * 1001 then failwith "another function"
  done;
  if Boxroot.live_roots () < 1000 then failwith "there are two allocators";
  let listeners = Listeners.create () in
  Listeners.add listeners (fun name -> define name (fun _ -> raise Not_found));
  (match apply "unknown" 0 with
  | _ -> failwith "no exception"
  | exception Failure text -> if text <> "no function unknown" then failwith text);
  (match Listeners.tell listeners "fails"; apply "fails" 0 with
  | _ -> failwith "no exception"
  | exception Not_found -> ());
  let check word expected = if describe word <> expected then failwith (describe word) in
  check { text = "go"; kind = Verb { past = "went" } } "go, Verb { past: \"went\" }: went";
  check { text = "tree"; kind = Noun } "tree, Noun: tree has none";
  print_endline "with Rust: passed"
