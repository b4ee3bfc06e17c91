type 'a resolve = ('a, exn) result -> unit
type cancel = unit -> unit

external descriptor : unit -> int = "app_descriptor"
external run : unit -> unit = "app_run"
external sleep : float -> unit resolve -> cancel = "app_sleep"
external answer : int -> int resolve -> cancel = "app_answer"
external rust : unit -> unit resolve -> cancel = "app_rust"

let ( let* ) = Lwt.bind
let cancellations = ref 0
let cancelled () = !cancellations

(* ---- called by Rust ---- *)

let greet name =
  let* () = Lwt_unix.sleep 0.001 in
  if name = "" then Lwt.fail_with "no name" else Lwt.return ("hello " ^ name)

let greet name = Rust_lwt.to_rust (greet name)

let never resolve =
  let promise, _ = Lwt.task () in
  Lwt.on_cancel promise (fun () -> incr cancellations);
  Rust_lwt.to_rust promise resolve

(* ---- waiting for Rust ---- *)

let twice n = Rust_lwt.of_rust (answer n)
let wait seconds = Rust_lwt.of_rust (sleep seconds)

(* [n] round trips, one after the other. *)
let round_trips n =
  let rec go i =
    if i = n then Lwt.return_unit else let* result = twice i in assert (result = 2 * i); go (i + 1)
  in
  let start = Unix.gettimeofday () in
  let* () = go 0 in
  let each = (Unix.gettimeofday () -. start) /. float n in
  Printf.printf "a round trip from Lwt to tokio and back: %.1f us\n" (each *. 1e6);
  Lwt.return_unit

let all_at_once n =
  let* results = Lwt.all (List.init n twice) in
  assert (List.fold_left ( + ) 0 results = n * (n - 1));
  Lwt.return_unit

(* A cancelled sleep ends at once, and a failure in Rust is an exception. *)
let ends () =
  let* () = Lwt.pick [ wait 3600.; wait 0.001 ] in
  let* exn = Lwt.try_bind (fun () -> twice (-1)) (fun _ -> Lwt.return_none) Lwt.return_some in
  assert (exn = Some (Failure "a negative number"));
  Lwt.return_unit

let main () =
  Lwt_main.run
    (Rust_lwt.serve (descriptor ()) run;
     let* () = Lwt.join [ Rust_lwt.of_rust (rust ()); ends (); all_at_once 100_000 ] in
     round_trips 20_000)
