(* OCaml 4 has one domain. *)
let spawn (_ : unit -> unit) : unit = failwith "OCaml 4 has no domains"
let join_all () = ()
let continuation () = Obj.repr ()
let resume _ = true
let in_fiber f = f ()
