(* SPDX-License-Identifier: MIT *)
(* Each spawned function has its own domain. *)
type t = unit Domain.t

let spawn = Domain.spawn
let join = Domain.join
