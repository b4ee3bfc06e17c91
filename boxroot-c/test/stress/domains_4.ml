(* SPDX-License-Identifier: MIT *)
(* OCaml 4 has one domain: each spawned function has a thread. *)
type t = Thread.t

let spawn f = Thread.create f ()
let join = Thread.join
