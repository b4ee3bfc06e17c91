(* Calls functions of the library directly, without stubs. Their plain names belong to the linked flavour. *)
external setup : unit -> (int[@untagged]) = "in bytecode" "boxroot_setup" [@@noalloc]
external create : 'a -> (nativeint[@unboxed]) = "in bytecode" "boxroot_create" [@@noalloc]
external get : (nativeint[@unboxed]) -> 'a = "in bytecode" "boxroot_get" [@@noalloc]
external delete : (nativeint[@unboxed]) -> unit = "in bytecode" "boxroot_delete" [@@noalloc]

let () =
  ignore (Sys.opaque_identity (setup ()));
  let roots = Array.init 10_000 (fun i -> create (string_of_int i)) in
  Gc.compact ();
  Array.iteri (fun i r -> if get r <> string_of_int i then failwith "a root lost its value") roots;
  Array.iter delete roots;
  if Array.mem "delete twice" Sys.argv then delete roots.(9_999)
