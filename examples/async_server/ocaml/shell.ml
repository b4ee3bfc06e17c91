(* The state of a client of the server: variables, in a map that does not change. *)

module Variables = Map.Make (String)

exception Bad_command of string

(* The state after a command, and the answer to it. *)
let step (state : string Variables.t) command =
  match String.split_on_char ' ' command with
  | "set" :: name :: words -> (Variables.add name (String.concat " " words) state, "ok")
  | [ "get"; name ] -> (state, Variables.find name state)
  | [ "count" ] -> (state, string_of_int (Variables.cardinal state))
  | _ -> raise (Bad_command command)

(* Work that takes long. *)
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

let () =
  Callback.register_exception "shell.Bad_command" (Bad_command "");
  Callback.register "shell.start" (fun () -> (Variables.empty : string Variables.t));
  Callback.register "shell.step" step;
  Callback.register "shell.fib" fib
