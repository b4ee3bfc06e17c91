(* A C library that calls back: handlers of events, which C keeps by roots (handlers_stubs.c).

   Run it: `make -C examples c` *)

type handler

external on : string -> (string -> unit) -> handler = "handlers_on"
external off : handler -> unit = "handlers_off"
external emit : string -> string -> int = "handlers_emit"

let () =
  let log = ref [] in
  let note name text = log := (name ^ " " ^ text) :: !log in
  let first = on "open" (note "first") in
  let second = on "open" (note "second") in
  ignore (on "close" (fun text -> failwith ("cannot close " ^ text)));
  assert (emit "open" "a" = 2);
  Gc.compact ();
  off first;
  assert (emit "open" "b" = 1);
  assert (!log = [ "second b"; "first a"; "second a" ]);
  assert (emit "other" "c" = 0);
  (* An exception of a handler arrives here. *)
  assert (match emit "close" "d" with _ -> false | exception Failure text -> text = "cannot close d");
  off second;
  (* Many handlers that come and go. *)
  for round = 1 to 10 do
    let handlers = List.init 10_000 (fun i -> on "many" (fun _ -> if i < 0 then failwith "not i")) in
    if round mod 2 = 0 then Gc.full_major ();
    assert (emit "many" "" = 10_000);
    List.iter off handlers
  done;
  Printf.printf "%s; and a hundred thousand handlers came and went\n" (String.concat ", " !log)
