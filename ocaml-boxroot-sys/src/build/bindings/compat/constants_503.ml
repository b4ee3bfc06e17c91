let new_keywords = [ "effect" ]

(* The first letter of a name, which may be other than ASCII from OCaml 5.3 on. *)
let capitalize s = match Misc.Utf8_lexeme.capitalize s with Ok s -> s | Error _ -> s
let uncapitalize s = match Misc.Utf8_lexeme.uncapitalize s with Ok s -> s | Error _ -> s

(* Constants in the syntax trees of OCaml from 5.3 on. *)
let string_constant (e : Parsetree.expression) = match e.pexp_desc with
  | Pexp_constant { pconst_desc = Pconst_string (s, _, _); _ } -> Some s | _ -> None

(* Replaces the name of a module type by a path. *)
let add_module_type = Subst.add_modtype
