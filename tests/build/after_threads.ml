external check : unit -> unit = "late_threads_check"

(* The collector's scan notices that threads were initialised, before anything else asks. *)
let () = Gc.minor (); check ()

(* Nothing has told that this thread has the lock. *)
external check_thread : unit -> unit = "late_threads_check_thread"
let () = Thread.join (Thread.create check_thread ())
