(* Up to OCaml 5.3, the parts of a tuple have no labels. *)
let tuple parts = List.map (fun t -> (None, t)) parts
