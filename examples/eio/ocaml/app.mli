type 'a resolve = ('a, exn) result -> unit
type cancel = unit -> unit

val main : unit -> unit
(** Runs Eio's event loop, and returns when all is done. *)

val greet : string -> string resolve -> cancel
(** For Rust: a fiber's work, which takes a moment. *)

val never : unit resolve -> cancel
(** For Rust: a fiber that never ends. *)

val cancelled : unit -> int
(** How many fibers of {!never} were cancelled. *)

external descriptor : unit -> int = "app_descriptor"
external run : unit -> unit = "app_run"

external sleep : float -> unit resolve -> cancel = "app_sleep"
(** tokio's sleep. *)

external answer : int -> int resolve -> cancel = "app_answer"
(** Twice the number, from a task of tokio's. Fails for negative numbers. *)

external rust : unit -> unit resolve -> cancel = "app_rust"
(** The part of the program that is in Rust, and waits for fibers. *)
