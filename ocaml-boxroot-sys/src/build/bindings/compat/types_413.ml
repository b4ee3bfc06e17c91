(* Types in compiler-libs of OCaml 4.13. *)
let get_desc t = (Ctype.repr t).Types.desc
let get_id t = (Ctype.repr t).Types.id
let row_fields row =
  List.map (fun (label, field) -> (label, match Btype.row_field_repr field with
    | Types.Rpresent argument -> Some argument
    | Types.Rabsent | Types.Reither _ -> None)) (Btype.row_repr row).Types.row_fields
let row_is_exact row =
  let row = Btype.row_repr row in
  row.Types.row_closed && List.for_all (fun (_, field) -> match Btype.row_field_repr field with
    | Types.Rpresent _ | Types.Rabsent -> true | Types.Reither _ -> false) row.Types.row_fields
let unboxed env t = match Typedecl_unboxed.get_unboxed_type_representation env t with
  | Typedecl_unboxed.This t | Typedecl_unboxed.Only_on_64_bits t -> Some t
  | Typedecl_unboxed.Unavailable -> None
let row_name row = (Btype.row_repr row).Types.row_name
let row_all_fields row =
  List.map (fun (label, field) -> (label, match Btype.row_field_repr field with
    | Types.Rpresent argument -> `One argument
    | Types.Reither (true, [], _, _) -> `One None
    | Types.Reither (false, [ t ], _, _) -> `One (Some t)
    | Types.Reither _ -> `Several
    | Types.Rabsent -> `None)) (Btype.row_repr row).Types.row_fields
let is_public kind = Btype.field_kind_repr kind = Types.Fpresent
