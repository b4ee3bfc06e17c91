(* Calls of the functions that tests/support/exported.rs exports. *)

external repeat : string -> int -> string = "safe_repeat"
external deeper : (int -> int) -> int -> int = "safe_deeper"
external drop_roots : unit -> unit = "safe_drop_roots"
external run : int -> int = "safe_run"
external note : int -> unit = "safe_note" [@@noalloc]
external setup : unit -> bool = "test_setup"
external call_beside : string -> (unit -> unit) -> string = "test_call_beside"

let register = Callback.register
let () = register "repeated_length" (fun n -> String.length (repeat "abc" n))

(* A recursion through Rust at each level. At the bottom it calls [bottom]. *)
let rec descend bottom n =
  if n = 0 then bottom () else 1 + deeper (fun n -> descend bottom (n - 1)) n

let () = register "descend" (fun n -> if n < 0 then deeper Fun.id n else descend (fun () -> 0) n)
let () = register "descend_and_raise" (descend (fun () -> failwith "raised at the bottom"))
let () = register "descend_and_panic" (descend (fun () -> deeper Fun.id (-1)))

let () =
  register "drop_roots_in_a_domain" (fun _ ->
      Multicore.spawn drop_roots;
      Multicore.join_all ();
      0)

let () =
  register "drop_roots_in_a_finaliser" (fun _ ->
      Gc.finalise (fun _ -> drop_roots ()) (ref 0);
      Gc.full_major ();
      0)

(* These run the test's function: directly, and in all other places where OCaml code can run. *)
let () =
  register "run" run;
  register "run_in_a_thread" (fun n ->
      Thread.join (Thread.create (fun () -> ignore (run n)) ());
      n);
  register "run_in_a_domain" (fun n ->
      Multicore.spawn (fun () -> ignore (run n));
      Multicore.join_all ();
      n);
  register "start_in_a_thread" (fun n -> ignore (Thread.create run n); n);
  register "start_in_a_domain" (fun n -> Multicore.spawn (fun () -> ignore (run n)); n);
  register "start_in_a_domain_twice" (fun n ->
      Multicore.spawn (fun () ->
          let ends () = match run n with _ -> 1 | exception Failure _ -> 2 in
          ignore (ends ());
          note (ends ()));
      n);
  register "run_in_a_finaliser" (fun n ->
      Gc.finalise (fun _ -> ignore (run n)) (ref 0);
      Gc.full_major ();
      n);
  register "run_at_exit" (fun n ->
      at_exit (fun () -> ignore (run n));
      n);
  register "run_beside_a_value" (fun n ->
      int_of_string (call_beside (string_of_int n) (fun () -> ignore (run n))));
  register "exit" (fun n -> exit n);
  register "print" (fun n -> print_int n; n)

(* Another thread yields while this one calls [run], and then also calls it. *)
let () =
  register "run_beside_a_yield" (fun n ->
      let started = ref false and go = ref false and result = ref (-1) in
      let other () =
        started := true;
        while not !go do Thread.yield () done;
        result := run (n + 1)
      in
      let thread = Thread.create other () in
      while not !started do Thread.yield () done;
      ignore (run n);
      go := true;
      Thread.join thread;
      !result)

(* Starts a thread that never ends, and returns when the thread has reached its endless loop. *)
let endless body is_there =
  let started = ref false in
  ignore (Thread.create body started);
  while not (!started && is_there ()) do Thread.yield () done

let busy started =
  started := true;
  while true do ignore (Sys.opaque_identity (ref 0)) done

let start_busy () = endless busy (fun () -> true)

let () =
  let mutex = Mutex.create () and condition = Condition.create () in
  let wait started =
    Mutex.lock mutex;
    started := true;
    while true do Condition.wait condition mutex done
  and waits () = Mutex.lock mutex; Mutex.unlock mutex; true in
  let join started = Thread.join (Thread.create wait started) in
  let channel = Event.new_channel () in
  let receive started =
    started := true;
    while true do Event.sync (Event.receive channel) done
  and receives () = Event.poll (Event.send channel ()) <> None in
  let read lines started =
    started := true;
    while true do ignore (input_line lines) done
  in
  let register name start = register name (fun n -> start n; n) in
  register "busy" (fun _ -> start_busy ());
  register "wait_for_a_condition" (fun _ -> endless wait waits);
  register "wait_for_a_thread" (fun _ -> endless join waits);
  register "wait_for_an_event" (fun _ -> endless receive receives);
  register "read_lines" (fun descriptor ->
      let lines = Unix.in_channel_of_descr (Obj.magic descriptor) in
      let yields = ref 0 in (* each yield lets the thread go on, until it waits for input *)
      endless (read lines) (fun () -> incr yields; !yields > 100))

(* Changes bytes in another thread, or domain, until they start with 'x'. *)
let change b =
  while Bytes.get b 0 <> 'x' do
    Bytes.fill b 1 (Bytes.length b - 1) 'b';
    Bytes.fill b 1 (Bytes.length b - 1) 'a';
    Thread.yield ()
  done

let () =
  register "start_changing" (fun b -> Multicore.spawn (fun () -> change b));
  register "stop_changing" (fun b ->
      Bytes.set b 0 'x';
      Multicore.join_all ())

let () = register "register_names" (fun n -> for i = 1 to n do register (string_of_int i) i done)

(* Works below effect handlers: each time on a new stack. *)
let () =
  let work () =
    for i = 1 to 2000 do ignore (Sys.opaque_identity i) done;
    ignore (Sys.opaque_identity (String.make 300 'x'))
  in
  register "work_in_fibers" (fun n -> for _ = 1 to n do Multicore.in_fiber work done; n)

let rec depth n = if n = 0 then 0 else 1 + depth (n - 1)
let () = register "depth" depth
let () = register "thread_id" (fun _ -> Thread.id (Thread.self ()))

(* When this module is initialised, runs the test's function or raises an exception, if the arguments ask for
   that. *)
let () =
  let asked what = Array.mem what Sys.argv in
  let talk () =
    ignore (Unix.write_substring Unix.stdin "?" 0 1);
    ignore (Unix.read Unix.stdin (Bytes.create 1) 0 1)
  in
  if asked "talk" then talk ();
  if asked "setup" then begin
    assert (setup ());
    talk ()
  end;
  if asked "tick" then Thread.join (Thread.create ignore ());
  if asked "fork" then ignore (Testlib.fork_and_go_on ());
  if asked "busy" then start_busy ();
  if asked "run" then ignore (run (Array.length Sys.argv));
  if asked "raise" then failwith "config file missing"

let () = register "run_in_a_child" (fun n -> Testlib.in_a_child (fun () -> ignore (run n)))
