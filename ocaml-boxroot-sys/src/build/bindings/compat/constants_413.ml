let new_keywords = []

(* The first letter of a name. *)
let capitalize = String.capitalize_ascii
let uncapitalize = String.uncapitalize_ascii

(* Constants in the syntax trees of OCaml up to 5.2. *)
let string_constant (e : Parsetree.expression) = match e.pexp_desc with
  | Pexp_constant (Pconst_string (s, _, _)) -> Some s | _ -> None

(* Replaces the name of a module type by a path. *)
let add_module_type id path = Subst.add_modtype id (Types.Mty_ident path)
