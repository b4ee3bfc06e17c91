type 'a resolve = ('a, exn) result -> unit
type cancel = unit -> unit

external descriptor : unit -> int = "app_descriptor"
external run : unit -> unit = "app_run"
external sleep : float -> unit resolve -> cancel = "app_sleep"
external answer : int -> int resolve -> cancel = "app_answer"
external rust : unit -> unit resolve -> cancel = "app_rust"

open Eio.Std

let cancellations = ref 0
let cancelled () = !cancellations

(* ---- called by Rust ---- *)

let greet name =
  Rust_eio.to_rust (fun () ->
      Eio_unix.sleep 0.001;
      if name = "" then failwith "no name" else "hello " ^ name)

let never resolve =
  let wait () = try Fiber.await_cancel () with exn -> incr cancellations; raise exn in
  Rust_eio.to_rust wait resolve

(* ---- waiting for Rust ---- *)

let twice n = Rust_eio.of_rust (answer n)
let wait seconds = Rust_eio.of_rust (sleep seconds)

(* [n] round trips, one after the other. *)
let round_trips n =
  let start = Unix.gettimeofday () in
  for i = 0 to n - 1 do assert (twice i = 2 * i) done;
  let each = (Unix.gettimeofday () -. start) /. float n in
  Printf.printf "a round trip from Eio to tokio and back: %.1f us\n" (each *. 1e6)

let all_at_once n =
  let results = Fiber.List.map twice (List.init n Fun.id) in
  assert (List.fold_left ( + ) 0 results = n * (n - 1))

(* A cancelled sleep ends at once, and a failure in Rust is an exception. *)
let ends () =
  Fiber.first (fun () -> wait 3600.) (fun () -> wait 0.001);
  match twice (-1) with
  | _ -> assert false
  | exception exn -> assert (exn = Failure "a negative number")

let main () =
  Eio_main.run (fun _env ->
      Switch.run (fun sw ->
          Rust_eio.serve ~sw (descriptor ()) run;
          let wait_for_rust () = Rust_eio.of_rust (rust ()) in
          Fiber.all [ wait_for_rust; ends; (fun () -> all_at_once 100_000) ];
          round_trips 20_000))
