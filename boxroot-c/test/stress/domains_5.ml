(* SPDX-License-Identifier: MIT *)
(* Each spawned function has a domain of its own. *)
type t = unit Domain.t

let spawn = Domain.spawn
let join = Domain.join
