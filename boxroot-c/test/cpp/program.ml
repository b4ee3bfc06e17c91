(* The C++ headers, in functions that OCaml calls. Each check returns 0, or the line that failed. *)
external setup : unit -> unit = "cpp_setup"
external pointer : unit -> int = "cpp_pointer"
external created : 'a -> unit = "cpp_created"
external teardown : unit -> unit = "cpp_teardown"
external lock_is_held : unit -> int = "cpp_lock_is_held"
external live : unit -> int = "cpp_live"
external unguarded : (unit -> int) -> int = "cpp_unguarded"
external guarded : (int -> int) -> int = "cpp_guarded"
external moving : (string -> string -> string -> string) -> string = "cpp_moving"
external text_of : (unit -> string) -> string = "cpp_text"
external throws : int -> int = "cpp_throws"
external unwound : bool -> bool = "cpp_unwound"
external has_exceptions : unit -> bool = "cpp_has_exceptions"

exception Local of string

let check name line = if line <> 0 then failwith (Printf.sprintf "%s: line %d" name line)
let equal name a b = if a <> b then failwith (Printf.sprintf "%s: %d, not %d" name a b)

(* One root per frame, five frames, collections at the innermost. *)
let fails depth =
  if depth > 0 then depth
  else begin
    Gc.full_major ();
    raise (Local (string_of_int (Sys.opaque_identity 12)))
  end

let raised f = match f () with text -> text | exception Local text -> "Local " ^ text
  | exception Failure text -> "Failure " ^ text | exception Out_of_memory -> "Out_of_memory"

let expect name wanted f =
  let before = live () in
  let got = raised f in
  if got <> wanted then failwith (Printf.sprintf "%s: %s" name got);
  equal (name ^ ": live roots") (live ()) before

let () =
  Callback.register "collect" Gc.minor;
  setup ();
  check "pointer" (pointer ());
  if has_exceptions () then begin
    let before = live () in
    equal "a result" (guarded (fun depth -> depth + 1)) 15;
    equal "a result: live roots" (live ()) before;
    let suffix = string_of_int (Sys.opaque_identity 1) in
    let text = moving (fun a b c -> a ^ b ^ c ^ suffix) in
    if text <> "abc1" then failwith ("roots are read before other arguments are made: " ^ text);
    for _ = 1 to 1000 do expect "OCaml's exception" "Local 12" (fun () -> string_of_int (guarded fails)) done;
    let written = text_of (fun () -> failwith "12") in
    if written <> {|Failure("12") Failure("12")|} then failwith ("what(): " ^ written);
    expect "a C++ exception" "Failure a text" (fun () -> string_of_int (throws 0));
    expect "out of memory" "Out_of_memory" (fun () -> string_of_int (throws 1));
    expect "not an std::exception" "Failure a C++ exception" (fun () -> string_of_int (throws 2));
    expect "unwinding as by pthread_exit" "true" (fun () -> string_of_bool (unwound false));
    expect "a long text" ("Failure " ^ String.make 250 'x') (fun () -> string_of_int (throws 3))
  end;
  (* As boxroot.hpp says: an OCaml exception that passes a C++ function leaks its roots. *)
  let before = live () in
  (match unguarded (fun () -> raise Exit) with _ -> failwith "no exception" | exception Exit -> ());
  equal "leaked" (live ()) (before + 1);
  expect "a root is made" "" (fun () -> created "a value"; "");
  teardown ();
  check "the lock after the teardown" (lock_is_held ());
  let torn_down = "boxroot: boxroot_teardown was called; no more roots can be created" in
  expect "no root is made" ("Failure " ^ torn_down) (fun () -> created "a value"; "");
  print_endline "C++: passed"
