(* A program that OCaml starts, with a Rust library that can start OCaml. *)
external start : unit -> string = "starter_start"

let () =
  let text = start () in
  if text <> "Err(AlreadyStarted: an OCaml runtime was already started in this process), true" then failwith text
