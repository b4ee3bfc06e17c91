type owner

external open_ : string -> bool = "closes_open"
external boxed : int -> owner = "closes_boxed"
external close : unit -> bool = "closes_close"

external attached : string -> bool -> bool = "closes_attached"

let use_boxes path =
  assert (open_ path);
  let owners = Array.init 10 (fun _ -> Some (boxed 10)) in
  assert (close ());
  ignore (Sys.opaque_identity owners);
  Array.fill owners 0 10 None

let () =
  match Sys.argv with
  | [| _; path; "attach"; busy |] ->
      Thread.join (Thread.create ignore ());
      assert (attached path (bool_of_string busy))
  | _ -> use_boxes Sys.argv.(1)

let () = Gc.compact ()
