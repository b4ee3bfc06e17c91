val greet : ?title:string -> name:string -> unit -> string
val letter : ?greeting:string -> ?copies:int -> ?signed:string -> name:string -> unit -> string

type change = string -> string

val map_words : change -> string -> string
val prefixed : string -> change
val last : 'a list -> 'a option

type session
(** Who is greeted, and how often. *)

val start : string -> session
val again : session -> int

external log : level:int -> string -> unit = "greetings_log"

val greet_all : string list -> int
(** Logs a greeting for each name. *)
