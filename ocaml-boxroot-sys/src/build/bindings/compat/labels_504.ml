(* From OCaml 5.4 on, the parts of a tuple may have labels, and a field may be atomic. *)
let tuple parts = parts
let is_atomic (l : Types.label_declaration) = l.ld_atomic = Asttypes.Atomic
