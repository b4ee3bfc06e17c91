(* A program that OCaml starts, with a Rust library that can start OCaml. *)
external start : unit -> string = "starter_start"

let () =
  let text = start () in
  let is_refused =
    String.starts_with ~prefix:"Err(AlreadyStarted: " text
    && String.ends_with ~suffix:"), true" text
  in
  if not is_refused then failwith text
