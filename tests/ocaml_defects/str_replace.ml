(* Seen: 4.13-5.5. Effect: crash. *)

let regexp = Str.regexp "\\(x\\)"
let long = String.make 20_000_000 ' ' ^ "x"
let short = "x"

let search _ = ignore (Str.search_forward regexp long 19_999_990)

let () =
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle search);
  ignore (Unix.setitimer Unix.ITIMER_REAL { it_interval = 0.0001; it_value = 0.0001 });
  let stop = Unix.gettimeofday () +. 10. in
  while Unix.gettimeofday () < stop do
    ignore (Sys.opaque_identity (Str.global_replace regexp "\\1" short))
  done
