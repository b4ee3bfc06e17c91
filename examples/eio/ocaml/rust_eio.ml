(* Promises between Eio and Rust. Copy this file. *)

type 'a resolve = ('a, exn) result -> unit
type cancel = unit -> unit

(* Calls from Rust that must run in fibers of this domain. A function that Rust calls cannot start a
   fiber itself, because an effect does not pass through Rust. *)
let calls : (unit -> unit) Queue.t Domain.DLS.key = Domain.DLS.new_key Queue.create

(* Call this once, in Eio's event loop. From then on, whenever Rust's CompletionQueue makes
   [descriptor] readable, [run] runs what is in the queue. *)
let serve ~sw descriptor run =
  let descriptor : Unix.file_descr = Obj.magic (descriptor : int) in
  let calls = Domain.DLS.get calls in
  let rec serve () =
    Eio_unix.await_readable descriptor;
    run ();
    while not (Queue.is_empty calls) do Eio.Fiber.fork ~sw (Queue.take calls) done;
    serve ()
  in
  Eio.Fiber.fork_daemon ~sw serve

(* Waits for a result from Rust. [start] starts the work, and returns how to cancel it. *)
let of_rust (start : 'a resolve -> cancel) =
  let promise, resolver = Eio.Promise.create () in
  let cancel = start (Eio.Promise.resolve resolver) in
  try Eio.Promise.await_exn promise
  with Eio.Cancel.Cancelled _ as exn -> cancel (); raise exn

(* Calls [f] in a fiber, and gives the result to Rust. Returns a function that cancels the fiber. *)
let to_rust f (resolve : 'a resolve) : cancel =
  let is_cancelled, cancel = Eio.Promise.create () in
  let cancelled () = Eio.Promise.await is_cancelled; raise Exit in
  let fiber () =
    resolve (match Eio.Fiber.first f cancelled with value -> Ok value | exception exn -> Error exn)
  in
  Queue.add fiber (Domain.DLS.get calls);
  fun () -> Eio.Promise.resolve cancel ()
