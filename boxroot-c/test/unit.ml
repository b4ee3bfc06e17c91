(* Runs the unit tests, which need the symbols of OCaml's runtime, and its lock. *)
external run : unit -> unit = "run_unit_tests"

let () = run ()
