(* The type of a first-class module, in OCaml from 5.5 on: the module type, and the types that it fixes. *)
let package (t : Types.type_desc) = match t with
  | Tpackage { pack_path; pack_constraints } -> Some (pack_path, pack_constraints)
  | _ -> None

(* A function type whose result may name the module that it takes: the label, the module, its type, and the result. *)
let dependent (t : Types.type_desc) = match t with
  | Tfunctor (label, id, package, result) -> Some (label, Path.Pident (Ident.of_unscoped id), Types.Tpackage package, result)
  | _ -> None
