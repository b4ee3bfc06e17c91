type kind = Noun | Verb of { past : string }
type word = { text : string; kind : kind }

exception Unknown of string

let past word = match word.kind with Verb { past } -> past | Noun -> raise (Unknown word.text)

external define : string -> (int -> int) -> unit = "words_define"
external apply : string -> int -> int = "words_apply"
external describe : word -> string = "words_describe"
