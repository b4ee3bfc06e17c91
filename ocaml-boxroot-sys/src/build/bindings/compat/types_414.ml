(* Types in compiler-libs of OCaml 4.14 and later. *)
let get_desc = Types.get_desc
let get_id = Types.get_id
let row_fields row =
  List.map (fun (label, field) -> (label, match Types.row_field_repr field with
    | Types.Rpresent argument -> Some argument
    | Types.Rabsent | Types.Reither _ -> None)) (Types.row_fields row)
let row_is_exact row =
  Types.row_closed row && List.for_all (fun (_, field) -> match Types.row_field_repr field with
    | Types.Rpresent _ | Types.Rabsent -> true | Types.Reither _ -> false) (Types.row_fields row)
let unboxed = Typedecl_unboxed.get_unboxed_type_representation
let row_name = Types.row_name
let row_all_fields row =
  List.map (fun (label, field) -> (label, match Types.row_field_repr field with
    | Types.Rpresent argument -> `One argument
    | Types.Reither (true, [], _) -> `One None
    | Types.Reither (false, [ t ], _) -> `One (Some t)
    | Types.Reither _ -> `Several
    | Types.Rabsent -> `None)) (Types.row_fields row)
let is_public kind = Types.field_kind_repr kind = Types.Fpublic
