(* A text that C keeps. No OCaml code of this program names the module Boxroot. *)
external setup : unit -> unit = "quiet_setup"
external keep : string -> unit = "quiet_keep"
external kept : unit -> string = "quiet_kept"

let () =
  setup ();
  keep (String.concat " " [ "quiet:"; "passed" ]);
  Gc.compact ();
  print_endline (kept ())
