(* This executable differs from the other side's in the crate only: no more implementations. *)

let cells : (module Cell.S) list = []
let rust : string list = []
let fixpoints : (string * ((float -> float) -> float -> float)) list = []
let attaches : (string * (int -> unit)) list = []
let check_pools (_ : string) (_ : int) = ()
