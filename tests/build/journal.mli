type log

external create : string -> log = "journal_create"
external write : log -> string -> unit = "journal_write"
val fill : log -> string list -> log
val open_ : string -> log
