(* A mutable record of the OCaml heap. *)

type 'a t = { mutable contents : 'a }
let setup = ignore
let create contents = { contents }
let get r = r.contents
let delete r = r.contents <- Obj.magic ()
let modify cells i x = cells.(i).contents <- x
