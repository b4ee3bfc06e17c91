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

let rec fibonacci n = if n < 2 then n else fibonacci (n - 1) + fibonacci (n - 2)

(* [fibonacci] neither loops nor allocates, so no other thread gets a turn until it returns.
   Therefore clients may ask only for small numbers. *)
let fib n = if n > 30 then raise (Bad_command "fib: more than 30") else fibonacci n
