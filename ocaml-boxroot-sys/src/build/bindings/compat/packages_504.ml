(* The type of a first-class module, in OCaml 5.4: the module type, and the types that it fixes. *)
let package (t : Types.type_desc) = match t with
  | Tpackage { pack_path; pack_cstrs } -> Some (pack_path, pack_cstrs)
  | _ -> None

(* A function type whose result names the module that it takes: OCaml 5.5 has it. *)
let dependent (_ : Types.type_desc) = None
