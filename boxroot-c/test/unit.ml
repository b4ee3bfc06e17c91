(* Runs the unit tests: they need the symbols of OCaml's runtime, and this one's lock. *)
external run : unit -> unit = "run_unit_tests"

let () = run ()
