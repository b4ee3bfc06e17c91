(* The type of a first-class module, in OCaml from 5.5 on: the module type, and the types that it fixes. *)
let package (t : Types.type_desc) = match t with
  | Tpackage { pack_path; pack_constraints } -> Some (pack_path, pack_constraints)
  | _ -> None
