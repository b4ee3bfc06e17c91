(* The type of a first-class module, in OCaml up to 5.3: the module type, and the types that it fixes. *)
let package (t : Types.type_desc) = match t with
  | Tpackage (path, constraints) -> Some (path, List.map (fun (name, t) -> (Longident.flatten name, t)) constraints)
  | _ -> None

(* A function type whose result names the module that it takes: OCaml 5.5 has it. *)
let dependent (_ : Types.type_desc) = None
