type owner

external open_ : string -> bool = "closes_open"
external boxed : int -> owner = "closes_boxed"
external close : unit -> bool = "closes_close"

let () =
  assert (open_ Sys.argv.(1));
  let owners = Array.init 10 (fun _ -> Some (boxed 10)) in
  assert (close ());
  ignore (Sys.opaque_identity owners);
  Array.fill owners 0 10 None;
  Gc.compact ()
