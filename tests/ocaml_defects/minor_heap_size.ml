(* Seen: 5.0-5.5. Effect: crash. *)

let () = try Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 40 } with Out_of_memory -> ()
