let new_keywords = []

(* Constants in the syntax trees of OCaml up to 5.2. *)
let string_constant (e : Parsetree.expression) = match e.pexp_desc with
  | Pexp_constant (Pconst_string (s, _, _)) -> Some s | _ -> None
