external check : unit -> unit = "late_threads_check"

(* The collector's scan notices that threads were initialised, before anything else asks. *)
let () = Gc.minor (); check ()
