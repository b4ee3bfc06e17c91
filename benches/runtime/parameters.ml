(* Parameters come from the environment. *)

let get name default convert expected =
  match Sys.getenv_opt name with
  | None | Some "" -> default
  | Some text -> (
    match convert text with
    | Some x -> x
    | None -> failwith (Printf.sprintf "%s=%s: %s" name text expected))

let int name default = get name default int_of_string_opt "an integer is needed"
let rate name default = get name default float_of_string_opt "a number is needed"

(* The first of the names, unless the environment chooses another one. *)
let choice name names =
  let known text = if List.mem text names then Some text else None in
  get name (List.hd names) known ("choose one of " ^ String.concat " " names)
