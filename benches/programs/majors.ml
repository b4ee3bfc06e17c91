(* Ten major collections with many live roots. *)

let run (module C : Cell.S) =
  let module M = Many_roots.Make (C) in
  let cells = M.random (Many_roots.size 1_000_000) in
  Many_roots.print_ten_majors ();
  ignore (Sys.opaque_identity cells)

let () = Program.on_cells ~facts:Program.[ About "ten_majors" ] "majors" run
