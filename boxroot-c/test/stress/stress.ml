(* SPDX-License-Identifier: MIT *)
(* The walk of stress.h: starts and ends its actors, and serves their requests to OCaml. Settings
   come from the environment; see the Makefile. *)

type actor (* an immediate *)

external settings : int -> int -> int -> int -> unit = "stress_settings"
external statics : string array -> unit = "stress_statics"
external hooks_first : unit -> unit = "stress_hooks_first"
external hooks_second : unit -> unit = "stress_hooks_second"
external hooks_end : unit -> unit = "stress_hooks_end"
external handler : unit -> unit = "stress_handler"
external setup : unit -> unit = "stress_setup"
external lockless_start : int -> unit = "stress_lockless_start"
external lockless_end : unit -> unit = "stress_lockless_end"
external threads_end : unit -> unit = "stress_threads_end"
external new_actor : int -> int -> int -> actor = "stress_new_actor"
external end_actor : actor -> unit = "stress_end_actor"
external walk : actor -> int -> int = "stress_walk"
external fill : actor -> int -> unit = "stress_fill"
external argument : actor -> int = "stress_argument"
external delete : int -> unit = "stress_delete"
external registered : int -> unit = "stress_registered"
external begin_periods : int -> int -> bool -> unit = "stress_begin_periods"
external next_period : unit -> unit = "stress_next_period"
external new_replacer : int -> int -> actor = "stress_new_replacer"
external end_replacer : actor -> unit = "stress_end_replacer"
external end_last_replacer : actor -> unit = "stress_end_last_replacer"
external replace : actor -> int -> bool = "stress_replace"
external leave_roots : actor -> unit = "stress_leave_roots"
external wait_for_periods : int -> unit = "stress_wait_for_periods"
external check_all_dead : unit -> unit = "stress_check_all_dead"
external clear_market : bool -> unit = "stress_clear_market"
external live_roots : unit -> int = "stress_live_roots"
external pools : unit -> int = "stress_pools"
external validate : unit -> unit = "stress_validate"
external check_profile : unit -> unit = "stress_check_profile"
external print : unit -> unit = "stress_print"
external calls : bool -> int = "stress_calls"
external fail : string -> 'a = "stress_fail"
external teardown : unit -> unit = "stress_teardown"

let setting name default =
  match int_of_string_opt (Sys.getenv name) with
  | Some n -> n
  | None | (exception Not_found) -> default

let seed = setting "SEED" 1
let operations = setting "OPERATIONS" 10_000_000
let domains = setting "DOMAINS" 2
let threads = setting "THREADS" 1 (* more, in each domain *)
let lockless = setting "LOCKLESS" 2
let lives = setting "LIVES" 1000
let roots = setting "ROOTS" 40_000
let hooks = setting "HOOKS" (-1) (* which hooks act: a set of bits, whose numbers are in hooks.c *)
let periods = setting "PERIODS" 40 (* of random replacement, before the walk (replace.c) *)
let one_value = setting "ONE_VALUE" 0 <> 0 (* most roots hold the same value *)
let tears_down = setting "TEARDOWN" 0 <> 0

(* ---- values that C cannot make ---- *)

let opaque = Sys.opaque_identity
let closure (x : int) = opaque (fun () -> x)

(* The second of two closures in one block: an infix pointer. *)
let infix (x : int) =
  let rec first n = if n = 0 then x else second (n - 1)
  and second n = if n = 0 then x + 1 else first (n - 1) in
  if opaque true then (Obj.repr second) else Obj.repr first

let suspended (x : int) = lazy (opaque x)

let forced (x : int) =
  let l = lazy (Some (opaque x)) in
  ignore (opaque (Lazy.force l));
  l

let () =
  Callback.register "stress.closure" closure;
  Callback.register "stress.infix" infix;
  Callback.register "stress.lazy" suspended;
  Callback.register "stress.forced" forced

(* ---- what actors ask for ---- *)

let churn n =
  let rec go acc n = if n = 0 then acc else go (opaque (Bytes.make (n land 255) 'x') :: acc) (n - 1) in
  ignore (opaque (go [] n))

(* The finaliser of a block deletes the root, soon or when the block is old. *)
let kept = Array.init 64 (fun _ -> Atomic.make (ref 0))

let finalise handle =
  let block = ref handle in
  if handle land 64 = 0 then Gc.finalise (fun r -> delete !r) block
  else Gc.finalise_last (fun () -> delete handle) block;
  if handle land 128 = 0 then Atomic.set kept.((handle lsr 8) land 63) block

(* A few lives are long enough to have several pools, and to see cycles begin. *)
let rec live number =
  let budget = if number land 7 = 0 then number mod 30_000 else number mod 600 in
  let actor = new_actor number budget 0 in
  go actor (Queue.create ());
  end_actor actor

(* At most two lives of an actor at a time. *)
and start_life lives number =
  if Queue.length lives >= 2 then Domains.join (Queue.pop lives);
  Queue.push (Domains.spawn (fun () -> live number)) lives

and go actor lives =
  let request = walk actor 256 in
  if request <> 0 then begin
    perform actor lives request (argument actor);
    go actor lives
  end

and perform actor lives request x =
  match request with
  | 2 -> Gc.minor ()
  | 3 -> ignore (Gc.major_slice x)
  | 4 -> Gc.major ()
  | 5 -> Gc.full_major ()
  | 6 -> Gc.compact ()
  | 7 -> Gc.set { (Gc.get ()) with minor_heap_size = x }
  | 8 -> Thread.yield ()
  | 9 -> finalise x
  | 10 -> start_life lives (x land 0xff_ffff)
  | 11 -> churn x
  | 12 -> registered (calls true land 0xff_ffff)
  | 13 -> Gc.set { (Gc.get ()) with space_overhead = x }
  | _ -> ()

(* ---- the actors of the run ---- *)

let actors = domains * (1 + threads)
let share = max 1 (operations / actors)
let every = if lives = 0 then 0 else max 1 (operations / lives)

let main_actor number () =
  let actor = new_actor number share every and lives = Queue.create () in
  go actor lives;
  Queue.iter Domains.join lives;
  end_actor actor

let at_work = Atomic.make domains

(* Without lives, no domain ends before all have walked: in OCaml 5.2 and 5.3 a compaction meanwhile may lose
   pools of its heap (docs/known-of-ocaml.md). *)
let wait_for_all () =
  Atomic.decr at_work;
  while lives = 0 && Atomic.get at_work > 0 do
    Thread.delay 0.001
  done

let in_domain domain () =
  let number i = (domain * 100) + i in
  let others = List.init threads (fun i -> Thread.create (main_actor (number (i + 1))) ()) in
  main_actor (number 0) ();
  List.iter Thread.join others;
  wait_for_all ()

let walk_all () =
  lockless_start lockless;
  let others = List.init (domains - 1) (fun i -> Domains.spawn (in_domain (i + 1))) in
  in_domain 0 ();
  List.iter Domains.join others;
  threads_end ()

(* ---- the end ---- *)

(* Owners of roots may own owners, so finalisers may need several collections. *)
let rec collect_until_dead rounds =
  Gc.full_major ();
  if live_roots () > 0 then
    if rounds = 0 then fail (Printf.sprintf "%d roots are still alive" (live_roots ()))
    else collect_until_dead (rounds - 1)

let rec collect_until_small rounds =
  Gc.full_major ();
  if pools () > 2 then
    if rounds = 0 then fail (Printf.sprintf "%d empty pools stay in memory" (pools ()))
    else collect_until_small (rounds - 1)

let end_well () =
  clear_market true;
  lockless_end ();
  Array.iter (fun place -> Atomic.set place (ref 0)) kept;
  collect_until_dead 100;
  collect_until_small 10;
  validate ();
  check_profile ()

(* ---- random replacement (replace.c) ---- *)

let cycles_begun () = (Gc.quick_stat ()).major_collections

let lives_now = Atomic.make 0

(* A domain that comes and goes. Some of these do nothing while others delete their roots. *)
let replace_in_life number n () =
  Atomic.incr lives_now;
  let actor = new_replacer number n in
  let rec go steps = if steps > 0 && replace actor 256 then go (steps - 256) in
  go (20_000 + n);
  leave_roots actor;
  if number land 1 = 0 then wait_for_periods 3;
  end_replacer actor;
  Atomic.decr lives_now

let replace_in_domain number n () =
  let actor = new_replacer number n in
  while replace actor 256 do () done;
  end_replacer actor

let replace_and_count actor n =
  let rec go others number cycle =
    if not (replace actor 256) then others
    else if cycles_begun () = cycle then go others number cycle
    else begin
      next_period ();
      let starts = lives > 0 && Atomic.get lives_now < 4 && Random.bool () in
      let life = replace_in_life number (Random.int n) in
      go (if starts then Domains.spawn life :: others else others) (number + 1) (cycles_begun ())
    end
  in
  go [] 30_000 (cycles_begun ())

(* Other work for the marker: while it is at work, deletes must wait. *)
let ballast = ref [||]

(* This runs before the walk, because the walk forces hundreds of cycles. After these, the collector
   idles until the program has allocated as many words as they have marked, and the heap grows by
   gigabytes. *)
let replace_at_random () =
  Random.init seed;
  let n = max 16 (roots / domains) in
  ballast := Array.init 500_000 (fun i -> ref i);
  lockless_start lockless;
  begin_periods periods roots one_value;
  let others = List.init (domains - 1) (fun i -> Domains.spawn (replace_in_domain (20_000 + i) n)) in
  let actor = new_replacer 19_999 n in
  let lives = replace_and_count actor (n / 4 + 1) in
  List.iter Domains.join (lives @ others);
  end_last_replacer actor;
  lockless_end ();
  for _ = 1 to 3 do Gc.full_major () done;
  check_all_dead ();
  ballast := [||];
  collect_until_small 10;
  validate ();
  check_profile ()

(* Called with more words than it ever had, so that OCaml 5 unmaps the old minor heap. *)
let grow_minor_heap words = Gc.set { (Gc.get ()) with minor_heap_size = words }

(* Walks in small steps, between small slices of the collector, so that marking is often under way. *)
let walk_slowly actor =
  let lives = Queue.create () in
  for _ = 1 to Random.int 400 do
    ignore (Gc.major_slice (Random.int 300));
    let request = walk actor (1 + Random.int 50) in
    perform actor lives request (argument actor)
  done;
  Queue.iter Domains.join lives

(* The library is torn down before the program ends, with many roots alive. *)
let end_torn_down () =
  Random.init seed;
  let actor = new_actor 9999 max_int 0 in
  fill actor (1 + Random.int roots);
  walk_slowly actor;
  teardown ();
  end_actor actor;
  let deleter = Domains.spawn (fun () -> clear_market false) in
  if Random.bool () then churn (Random.int 10_000);
  grow_minor_heap 600_000;
  Gc.full_major ();
  clear_market false;
  Domains.join deleter;
  lockless_end ();
  grow_minor_heap 1_500_000;
  Gc.full_major ();
  Gc.compact ()

let () =
  settings seed (max 1 (roots / actors)) (2000 * actors * domains) hooks;
  statics [| "static"; "data"; "of"; "the"; "program" |];
  hooks_first ();
  setup ();
  if periods > 0 && not tears_down then replace_at_random ();
  hooks_second ();
  Sys.set_signal (if Sys.win32 then Sys.sigint else Sys.sigusr1) (Sys.Signal_handle (fun _ -> handler ()));
  walk_all ();
  if not tears_down then print ();
  hooks_end ();
  if tears_down then end_torn_down ()
  else end_well ();
  Printf.printf "stress: SEED=%d: passed, %d calls by actors, %d by hooks and lockless threads\n" seed
    (calls false) (calls true)
