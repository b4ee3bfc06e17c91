(* No root at all: the collector keeps the value. *)

type 'a t = 'a
let setup = ignore
let create x = x
let get x = x
let delete _ = ()
let modify cells i x = cells.(i) <- x
