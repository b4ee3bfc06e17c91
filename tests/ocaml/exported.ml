(* Functions that tests/safe.rs exports, and what calls them. *)

external repeat : string -> int -> string = "safe_repeat"
external deeper : (int -> int) -> int -> int = "safe_deeper"
external drop_roots : unit -> unit = "safe_drop_roots"

let register = Callback.register
let () = register "repeated_length" (fun n -> String.length (repeat "abc" n))

(* Down to the bottom through Rust, and back. *)
let rec descend bottom n =
  if n = 0 then bottom () else 1 + deeper (fun n -> descend bottom (n - 1)) n

let () = register "descend" (fun n -> if n < 0 then deeper Fun.id n else descend (fun () -> 0) n)
let () = register "descend_and_raise" (descend (fun () -> failwith "raised at the bottom"))
let () = register "descend_and_panic" (descend (fun () -> deeper Fun.id (-1)))

let () =
  register "drop_roots_in_a_domain" (fun _ ->
      Multicore.spawn drop_roots;
      Multicore.join_all ();
      0)

let () =
  register "drop_roots_in_a_finaliser" (fun _ ->
      Gc.finalise (fun _ -> drop_roots ()) (ref 0);
      Gc.full_major ();
      0)
