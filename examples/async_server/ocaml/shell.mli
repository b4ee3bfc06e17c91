(** The state of a client of the server: variables. *)

type state
(** It does not change, so any thread may use it. *)

exception Bad_command of string

val start : unit -> state

val step : state -> string -> state * string
(** [step state command] is the next state, and the answer. Raises [Not_found] if it is asked for an unknown variable, and
    {!Bad_command}. *)

val fib : int -> int
(** Work that takes long. *)
