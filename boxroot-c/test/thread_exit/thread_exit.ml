(* SPDX-License-Identifier: MIT *)
(* OCaml 4: the main thread ends by Thread.exit, and another thread goes on. See thread_exit.c. *)
external begin_test : string -> unit = "begin_test"
external main_has_ended : unit -> bool = "main_has_ended"
external start_c_thread : unit -> unit = "start_c_thread"
external c_thread_is_late : unit -> bool = "c_thread_is_late"
external join_c_thread : unit -> unit = "join_c_thread"
external end_test : string -> unit = "end_test"

let churn () = for i = 1 to 50_000 do ignore (Sys.opaque_identity (string_of_int i)) done

let other () =
  while not (main_has_ended ()) do
    churn ();
    Thread.yield ()
  done;
  start_c_thread ();
  while not (c_thread_is_late ()) do
    Thread.yield ()
  done;
  Gc.full_major ();
  join_c_thread ();
  Gc.full_major ();
  churn ();
  end_test (String.make 3 'k');
  exit 0

let () =
  begin_test (String.make 3 'k');
  ignore (Thread.create other ());
  Thread.exit ()
