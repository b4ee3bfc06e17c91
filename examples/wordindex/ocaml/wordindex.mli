(** A persistent index of words: each update makes a new map that shares most of the old one. *)

type t

val empty : t

val add : t -> string -> t
(** [add index word] adds one occurrence. *)

val count : t -> string -> int
(** [count index word] is the number of occurrences. *)

val total : t -> int
(** [total index] is the number of occurrences of all words. *)

val top : t -> int -> string list
(** [top index n] is the [n] most frequent words, each as "count word". Ties are in alphabetical
    order. *)

val gc_counts : unit -> string
(** A text that says how often the GC has run. *)
