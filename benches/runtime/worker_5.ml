(* Who works side by side: domains. *)

type 'a t = 'a Domain.t

let start = Domain.spawn
let join = Domain.join
