type t

external create : unit -> t = "listeners_create"
external add : t -> (string -> unit) -> unit = "listeners_add"
external tell : t -> string -> unit = "listeners_tell"

let () = Boxroot.setup ()
