(* A scheduler in C++ that keeps OCaml functions in a standard container (schedule_stubs.cpp).

   Run it: `make -C examples cpp` *)

external at : float -> (unit -> unit) -> unit = "schedule_at"
external run : unit -> int = "schedule_run"

let () =
  let done_ = ref [] in
  let rec again n time () =
    done_ := time :: !done_;
    if n > 0 then at (time +. 10.) (again (n - 1) (time +. 10.))
  in
  List.iter (fun time -> at time (again 2 time)) [ 3.; 1.; 2. ];
  Gc.compact ();
  assert (run () = 9);
  assert (List.rev !done_ = [ 1.; 2.; 3.; 11.; 12.; 13.; 21.; 22.; 23. ]);
  (* A task that fails: the others stay. *)
  at 1. (fun () -> failwith "the first");
  at 2. ignore;
  assert (match run () with _ -> false | exception Failure text -> text = "the first");
  assert (run () = 1);
  for i = 1 to 100_000 do at (float_of_int (i * 7919 mod 1000)) (fun () -> ignore i) done;
  assert (run () = 100_000);
  print_endline "a hundred thousand tasks ran in order"
