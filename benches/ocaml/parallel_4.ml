(* OCaml 4 has no domains. *)

let needs_ocaml5 = [ "par_perm_count"; "prodcons" ]
let programs : (string * ((module Cell.S) -> unit)) list = []
