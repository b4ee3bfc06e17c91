(** OCaml functions that Rust keeps under names, and words. *)

type kind = Noun | Verb of { past : string }
type word = { text : string; kind : kind }

exception Unknown of string

val past : word -> string
(** The past tense. Raises {!Unknown} if the word is not a verb. *)

external define : string -> (int -> int) -> unit = "words_define"
external apply : string -> int -> int = "words_apply"

external describe : word -> string = "words_describe"
(** Calls {!past}. *)
