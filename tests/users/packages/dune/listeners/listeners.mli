(** Functions to be called with texts, kept by C in a custom block with roots. *)

type t

val create : unit -> t

(** A listener that refers to [t] itself is never freed, nor is [t]: the collector does not see that the root belongs
    to [t]. *)
val add : t -> (string -> unit) -> unit

(** Calls the listeners in the order in which they were added. *)
val tell : t -> string -> unit
