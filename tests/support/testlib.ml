(* The OCaml side of the tests: functions that only OCaml code can have. *)

external call : int -> int -> unit = "test_call"
(* Calls the Rust function at an address. *)

let register = Callback.register

(* ---- the collector ---- *)

let () = register "minor" Gc.minor
let () = register "full_major" Gc.full_major
let () = register "major" Gc.major
let () = register "compact" Compaction.compact

(* Allocates n short-lived strings. Some of them survive for a while. *)
let churn n =
  let keep = Array.make 64 "" in
  for i = 0 to n - 1 do
    keep.(i land 63) <- string_of_int i
  done;
  ignore (Sys.opaque_identity keep)

let () = register "churn" churn

(* Allocates n blocks of garbage in the major heap. *)
let () =
  register "churn_major" (fun n ->
      for i = 1 to n do
        ignore (Sys.opaque_identity (Array.make 300 i))
      done)

let () =
  register "minor_heap_words" (fun words -> Gc.set { (Gc.get ()) with minor_heap_size = words });
  register "max_overhead" (fun percent -> Gc.set { (Gc.get ()) with max_overhead = percent });
  register "space_overhead" (fun percent -> Gc.set { (Gc.get ()) with space_overhead = percent })

let () =
  register "major_collections" (fun () -> (Gc.quick_stat ()).major_collections);
  register "live_words" (fun () -> (Gc.stat ()).live_words);
  register "compactions" (fun () -> (Gc.quick_stat ()).compactions);
  register "makes_copies" (fun () -> Sys.ocaml_version >= "4.14")

let () = register "array_of_blocks" (fun n -> Array.init n ref)
(* Garbage: blocks of six words, as large as the closures of "infix". Each word looks like the header of a large block, in one
   of the collector's three colours. *)
let () =
  register "leave_headers" (fun n ->
    let block i = let h = (1 lsl 29) lor ((i mod 3) lsl 7) in h, h, h, h, h, h in
    ignore (Sys.opaque_identity (Array.init n block)))

(* Releases the lock only if OCaml makes the thread take turns. *)
let () =
  let told = ref 0 in
  register "tell" (fun n -> told := n; n);
  register "wait_until_told" (fun n ->
      while !told < n do
        ignore (Sys.opaque_identity (ref n))
      done;
      n)

(* The result is a function that counts its calls. *)
let () =
  let events = ref 0 in
  register "listener" (fun () () -> incr events);
  register "events" (fun () -> !events)

let () = register "start_major_slice" (fun n -> ignore (Gc.major_slice n))

(* ---- values ---- *)

let () = register "string" string_of_int
let () = register "list" (fun n -> List.init n Fun.id)
let () = register "block" (fun n -> Obj.repr (Array.make n 0))
let () = register "set_field" Obj.set_field
let () = register "long_string" (fun n -> String.make 4096 (Char.chr (n land 255)))

let kept_strings = ref [||]
let () =
  register "keep_long_strings" (fun n -> kept_strings := Array.init n (fun _ -> String.make 4096 'x'));
  register "kept_strings_are_right" (fun () ->
      Array.for_all (fun s -> s = String.make 4096 'x') !kept_strings)

(* One value of each shape, and a check that it is still itself. The checks see the value
   only through the array, which the caller keeps in a root. *)

class counter = object
  val mutable n = 41
  method next = n <- n + 1; n
end

let rec even n = n = 0 || odd (n - 1)
and odd n = n <> 0 && even (n - 1)

let mutually_recursive k =
  let rec f n = if n = 0 then k else g (n - 1)
  and g n = if n = 0 then -k else f (n - 1) in
  (f, g)

let () = register "infix" (fun k -> snd (mutually_recursive k))
let () = register "apply_infix" (fun g -> -g 0)

(* A lazy value that only one domain forces. Undefined is always an error. *)
let () =
  register "lazy" (fun n ->
      lazy (if Sys.opaque_identity n land 1 = 0 then raise_notrace Exit else n));
  register "force" (fun n l ->
      match Lazy.force l with
      | m -> m = n
      | exception Exit -> n land 1 = 0
      | exception Lazy.Undefined -> false)

let static_list = [ "a"; "b"; "c" ]

let specimens () : Obj.t array =
  let f, g = mutually_recursive 7 in
  let weak = Weak.create 1 in
  Weak.set weak 0 (Some static_list);
  [| Obj.repr static_list;
     Obj.repr even;
     Obj.repr f;
     Obj.repr g (* an infix pointer *);
     Obj.repr (lazy (String.make 2 'l'));
     Obj.repr (Lazy.from_val 3.5);
     Obj.repr (Int64.of_int 64);
     Obj.repr (Bigarray.Array1.of_array Bigarray.int Bigarray.c_layout [| 1; 2; 3 |]);
     Obj.repr (Array.init 5 float_of_int);
     Obj.repr (new counter);
     Obj.repr weak;
     Obj.repr (Bytes.make 100_000 'b');
     Obj.repr 3.25;
     Obj.repr [||];
     Obj.repr (ref (Some "x"));
     Obj.repr (Failure (string_of_int 12));
     Multicore.continuation () |]

let check_specimen i (v : Obj.t) =
  match i with
  | 0 -> (Obj.obj v : string list) = static_list
  | 1 -> (Obj.obj v : int -> bool) 10
  | 2 -> (Obj.obj v : int -> int) 4 = 7
  | 3 -> (Obj.obj v : int -> int) 4 = -7
  | 4 -> Lazy.force (Obj.obj v : string Lazy.t) = "ll"
  | 5 -> Lazy.force (Obj.obj v : float Lazy.t) = 3.5
  | 6 -> (Obj.obj v : int64) = 64L
  | 7 -> Bigarray.Array1.get (Obj.obj v : (int, _, Bigarray.c_layout) Bigarray.Array1.t) 2 = 3
  | 8 -> (Obj.obj v : float array) = [| 0.; 1.; 2.; 3.; 4. |]
  | 9 -> (Obj.obj v : counter)#next = 42
  | 10 -> Weak.get (Obj.obj v : string list Weak.t) 0 = Some static_list
  | 11 -> Bytes.get (Obj.obj v : Bytes.t) 99_999 = 'b'
  | 12 -> (Obj.obj v : float) = 3.25
  | 13 -> (Obj.obj v : int array) = [||]
  | 14 -> !(Obj.obj v : string option ref) = Some "x"
  | 15 -> (Obj.obj v : exn) = Failure "12"
  | 16 -> Multicore.resume v
  | _ -> false

let () = register "specimens" specimens
let () = register "check_specimen" check_specimen

(* ---- the ways to call Rust ---- *)

let () = register "call" call

(* Calls [f] from two functions in turn. They are called at the same place, but their frames differ in
   size. *)
let () =
  let[@inline never] in_small_frame f n =
    call f n;
    Sys.opaque_identity ()
  and[@inline never] in_large_frame f n =
    let many = Sys.opaque_identity (n, n, n, n, n, n, n, n) in
    let a, b, c, d, e, f', g, h = many in
    call f n;
    ignore (Sys.opaque_identity (a + b + c + d + e + f' + g + h))
  in
  register "call_in_frames" (fun f n ->
      let frames = Sys.opaque_identity [| in_large_frame; in_small_frame |] in
      for i = 0 to n - 1 do frames.(i land 1) f i done)
let () = register "spawn" (fun f x -> Multicore.spawn (fun () -> call f x))
let () = register "join_all" Multicore.join_all

let threads = ref []
let thread f = threads := Thread.create f () :: !threads

let () =
  register "thread" (fun f x -> thread (fun () -> call f x));
  register "thread_that_exits" (fun f x ->
      thread (fun () -> call f x; (Thread.exit [@alert "-deprecated"] [@warning "-3"]) ()));
  register "thread_that_raises" (fun f x -> thread (fun () -> call f x; raise Not_found))

let () =
  register "join_threads" (fun () ->
      List.iter Thread.join !threads;
      threads := [])

let () = register "yield" Thread.yield

(* Calls Rust when a value that was dead from the start is finalised. *)
let () = register "on_finalise" (fun f x -> Gc.finalise (fun _ -> call f x) (ref x))
let () = register "on_alarm" (fun f x -> ignore (Gc.create_alarm (fun () -> call f x)))

let () =
  register "on_signal" (fun f x ->
      Sys.set_signal Sys.sigusr1 (Sys.Signal_handle (fun _ -> call f x)))

(* Ends a child that hangs. With RUN, an emulator runs the child, and everything takes several times as
   long. *)
let end_in_time () = ignore (Unix.alarm (if Sys.getenv_opt "RUN" = None then 60 else 300))

(* Returns true in the child. Returns false in the parent after the child has succeeded. *)
let fork_and_go_on () =
  match Unix.fork () with
  | 0 -> end_in_time (); true
  | pid -> if snd (Unix.waitpid [] pid) <> Unix.WEXITED 0 then Unix._exit 1; false

external stop_ticks : unit -> unit = "caml_thread_cleanup"

(* A thread that forks. Its child has no other thread, and ends when the thread ends. The tick thread is stopped before: when
   the thread ends, OCaml 5.0 to 5.4 waits for the parent's tick thread, with glibc 2.43 forever (docs/known-of-ocaml.md). *)
let () =
  register "thread_that_forks" (fun f x ->
      thread (fun () -> stop_ticks (); if fork_and_go_on () then call f x))

let () = register "raise_signal" (fun () -> Unix.kill (Unix.getpid ()) Sys.sigusr1; churn 1000)

(* Runs f in a child process, and returns the child's status. *)
let in_a_child f =
  match Unix.fork () with
  | 0 ->
    end_in_time ();
    Unix._exit (match f () with () -> 0 | exception _ -> 1)
  | pid -> (
    match Unix.waitpid [] pid with
    | _, Unix.WEXITED status -> status
    | _ -> 255)

let () = register "fork" (fun f x -> in_a_child (fun () -> call f x))

external forking_block : unit -> Obj.t = "test_forking_block"
external forks : unit -> int = "test_forks"

(* Returns how often the finaliser of a block has forked, on an OCaml thread. *)
let () =
  register "fork_in_a_finaliser" (fun () ->
      let body () = ignore (Sys.opaque_identity (forking_block ())); Gc.full_major () in
      Thread.join (Thread.create body ());
      forks ())

(* Calls Rust at every level of a recursion, which may exhaust the stack. Returns how often a level
   found the stack exhausted. *)
let deep f n =
  let overflows = ref 0 in
  let rec go n =
    if n > 0 then begin
      (try call f n with Stack_overflow -> incr overflows);
      (try go (n - 1) with Stack_overflow -> incr overflows);
      ignore (Sys.opaque_identity n)
    end
  in
  go n;
  !overflows

let () = register "deep" deep

external root_and_call : (unit -> unit) -> unit = "test_root_and_call"

let () =
  register "call_and_catch" (fun () ->
      match root_and_call (fun () -> raise Exit) with () -> failwith "returned" | exception Exit -> ())

let () =
  register "call_below_a_handler" (fun f argument ->
      Multicore.in_fiber (fun () -> root_and_call (fun () -> call f argument)))

let () = register "fail" (fun message -> failwith message)

(* ---- for tests/safe ---- *)

let () =
  register "describe" (fun (list, (floats, bytes)) ->
      String.concat ";"
        [ String.concat "," (List.map (fun (n, word) -> Printf.sprintf "%d=%s" n word) list);
          String.concat "," (Array.to_list (Array.map (Printf.sprintf "%g") floats));
          (match bytes with None -> "" | Some b -> Bytes.to_string b) ])

let () = register "floats" (fun n -> Array.init n float_of_int)

let () =
  register "ten" (fun a b c d e f g h i j ->
      String.concat "" (List.map string_of_int [ a; b; c; d; e; f; g; h; i; j ]));
  register "eight" (fun a b c d e f g h ->
      String.concat "" (List.map string_of_int [ a; b; c; d; e; f; g; h ]))

let () = register "catch_break" (fun on -> Sys.catch_break (on <> 0); 0)

let () =
  register "allocate" (fun n ->
      for i = 1 to n do ignore (Sys.opaque_identity (string_of_int i)) done;
      n)

(* Makes the domain of a pool's worker number [n] end with an exception before it calls Rust. *)
let () =
  register "fail_to_begin" (fun spawn n ->
      let made = ref 0 in
      register "ocaml_boxroot.spawn" (fun body ->
          incr made;
          let fails = !made = n in
          spawn (fun begun -> if fails then failwith "no worker" else body begun)))

let () = register "exception_to_string" Printexc.to_string

(* A scheduler that waits for a descriptor, until [run] has no more to do. *)
let () =
  register "run_on_select" (fun descriptor run ->
      let descriptor : Unix.file_descr = Obj.magic (descriptor : int) in
      while not (run ()) do ignore (Unix.select [ descriptor ] [] [] (-1.)) done)
