type 'a resolve = ('a, exn) result -> unit
type cancel = unit -> unit

val main : unit -> unit
(** Runs the scheduler, and returns when all work is done. *)

val greet : string -> string resolve -> cancel
(** Called by Rust. The promise resolves to a greeting, after a moment. *)

val never : unit resolve -> cancel
(** Called by Rust. The promise is never resolved. *)

val cancelled : unit -> int
(** The number of promises of {!never} that were cancelled. *)

external descriptor : unit -> int = "app_descriptor"
external run : unit -> unit = "app_run"

external sleep : float -> unit resolve -> cancel = "app_sleep"
(** tokio's sleep. *)

external answer : int -> int resolve -> cancel = "app_answer"
(** Computes twice the number, in a tokio task. Fails for negative numbers. *)

external rust : unit -> unit resolve -> cancel = "app_rust"
(** Runs the Rust part of the program, which waits for OCaml. *)
