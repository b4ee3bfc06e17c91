external check : unit -> unit = "late_threads_check"

(* The collector's scan notices that threads were initialised, before any other code checks. *)
let () = Gc.minor (); check ()

(* Nothing has shown yet that this thread has the lock. *)
external check_thread : unit -> unit = "late_threads_check_thread"
let () = Thread.join (Thread.create check_thread ())
