(* Workers on OCaml 5: domains. *)

type 'a t = 'a Domain.t

let start = Domain.spawn
let join = Domain.join
