(* Seen: 5.1-5.5. Effect: crash. *)

let count = Domain.DLS.new_key (fun () -> ref 0)

let rec signals () =
  Unix.kill (Unix.getpid ()) Sys.sigusr1;
  Thread.yield ();
  signals ()

let () =
  Sys.set_signal Sys.sigusr1 (Sys.Signal_handle (fun _ -> incr (Domain.DLS.get count)));
  ignore (Thread.create signals ());
  for _ = 1 to 10_000 do Domain.join (Domain.spawn (fun () -> Sys.opaque_identity ())) done
