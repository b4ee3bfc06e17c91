module Variables = Map.Make (String)

type state = string Variables.t

exception Bad_command of string

let start () = Variables.empty

let step state command =
  match String.split_on_char ' ' command with
  | "set" :: name :: words -> (Variables.add name (String.concat " " words) state, "ok")
  | [ "get"; name ] -> (state, Variables.find name state)
  | [ "count" ] -> (state, string_of_int (Variables.cardinal state))
  | _ -> raise (Bad_command command)

let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
