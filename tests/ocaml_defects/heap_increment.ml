(* Seen: 4.13-4.14. Effect: crash. *)

let () =
  Gc.set { (Gc.get ()) with major_heap_increment = -1000 };
  ignore (Sys.opaque_identity (List.init 2_000_000 string_of_int))
