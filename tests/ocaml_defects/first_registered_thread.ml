(* Seen: 4.13-5.5. Effect: hang. *)

external start : (unit -> unit) -> unit = "start_thread"

let () =
  ignore (Thread.self ());
  let set = ref false in
  start (fun () -> set := true);
  while not (Sys.opaque_identity !set) do () done
