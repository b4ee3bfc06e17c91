(* OCaml creates roots on young values, and THREADS threads that never hold a lock delete them. *)

external start : int -> int -> unit = "bench_start_threads"
external send : int ref array -> unit = "bench_send"
external join : unit -> unit = "bench_join_threads"

let run () =
  let batch = Parameters.int "BATCH" 100 in
  let rounds = Parameters.int "SIZE" 10_000_000 / batch in
  start (Parameters.int "THREADS" 1) batch;
  Measure.print_time (fun () ->
      for _ = 1 to rounds do send (Array.init batch ref) done;
      join ());
  Measure.print_count "creates" (rounds * batch)

let () = Program.on_lockless "lockless" run
