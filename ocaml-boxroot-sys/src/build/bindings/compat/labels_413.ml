(* Up to OCaml 5.3, the parts of a tuple have no labels, and no field is atomic. *)
let tuple parts = List.map (fun t -> (None, t)) parts
let is_atomic (_ : Types.label_declaration) = false
