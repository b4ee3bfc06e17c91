(* Seen: 5.0-5.5. Effect: crash. *)

external at_exit_walk : unit -> unit = "at_exit_walk"
external call : (unit -> unit) -> unit = "call_ocaml"

let () =
  at_exit_walk ();
  Effect.Deep.match_with
    (fun () -> call (fun () -> exit 0))
    ()
    { retc = Fun.id; exnc = raise; effc = (fun _ -> None) }
