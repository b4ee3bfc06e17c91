(* From OCaml 5.4 on, the parts of a tuple may have labels. *)
let tuple parts = parts
