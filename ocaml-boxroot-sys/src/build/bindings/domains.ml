(* For pools of domains (ocaml_boxroot::domains). *)
let () = Stdlib.Callback.register "ocaml_boxroot.spawn" (fun f -> Stdlib.ignore (Stdlib.Domain.spawn f))
