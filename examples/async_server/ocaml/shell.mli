(** A client's state on the server: its variables. *)

type state
(** Immutable, so any thread may use it. *)

exception Bad_command of string

val start : unit -> state

val step : state -> string -> state * string
(** [step state command] returns the next state and the answer. Raises [Not_found] for an unknown
    variable, and {!Bad_command} for an unknown command. *)

val fib : int -> int
(** Long work: a Fibonacci number. Raises {!Bad_command} if the number is too large. *)
