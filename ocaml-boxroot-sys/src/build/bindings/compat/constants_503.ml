let new_keywords = [ "effect" ]

(* Constants in the syntax trees of OCaml from 5.3 on. *)
let string_constant (e : Parsetree.expression) = match e.pexp_desc with
  | Pexp_constant { pconst_desc = Pconst_string (s, _, _); _ } -> Some s | _ -> None
