(* Seen: 4.13-4.14. Effect: crash. *)

let bytes = Bytes.make 1_000_000 'a'

let change _ = Bytes.fill bytes 0 1_000_000 (if Bytes.get bytes 0 = 'a' then '\000' else 'a')

let () =
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle change);
  ignore (Unix.setitimer Unix.ITIMER_REAL { it_interval = 0.0031; it_value = 0.0031 });
  let stop = Unix.gettimeofday () +. 10. in
  while Unix.gettimeofday () < stop do
    ignore (Sys.opaque_identity (Bytes.escaped bytes))
  done
