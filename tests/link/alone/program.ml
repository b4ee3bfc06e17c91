external setup : unit -> unit = "links_setup"
external create : 'a -> int = "links_create"
external get : int -> 'a = "links_get"
external delete : int -> unit = "links_delete"

let () =
  setup ();
  let roots = Array.init 100_000 (fun i -> create (string_of_int i)) in
  Gc.compact ();
  let others = Array.init 100_000 (fun i -> string_of_int (-i)) in
  Array.iteri (fun i r -> if get r <> string_of_int i then failwith "a root lost its value") roots;
  Array.iter delete roots;
  ignore (Sys.opaque_identity others);
  Gc.full_major ()
