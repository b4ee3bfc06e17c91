let greet ?title ~name () =
  match title with Some title -> Printf.sprintf "Hello, %s %s" title name | None -> "Hello, " ^ name

let letter ?(greeting = "Dear") ?(copies = 1) ?(signed = "Bob") ~name () =
  String.concat "; " (List.init copies (fun _ -> Printf.sprintf "%s %s, %s" greeting name signed))

type change = string -> string

let map_words change text = String.concat " " (List.map change (String.split_on_char ' ' text))
let prefixed prefix word = prefix ^ word
let last list = match List.rev list with [] -> None | last :: _ -> Some last

type session = { user : string; mutable times : int }

let start user = { user; times = 0 }

let again session =
  session.times <- session.times + 1;
  session.times

external log : level:int -> string -> unit = "greetings_log"

let greet_all names =
  List.iter (fun name -> log ~level:1 (greet ~name ())) names;
  List.length names
