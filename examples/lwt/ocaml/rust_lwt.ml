(* Promises between Lwt and Rust. Copy this file. *)

type 'a resolve = ('a, exn) result -> unit
type cancel = unit -> unit

(* Call this once, on Lwt's thread. From then on, whenever Rust's CompletionQueue makes [descriptor]
   readable, [run] runs what is in the queue. *)
let serve descriptor run =
  let descriptor : Unix.file_descr = Obj.magic (descriptor : int) in
  let descriptor = Lwt_unix.of_unix_file_descr ~blocking:false ~set_flags:false descriptor in
  let rec serve () = Lwt.bind (Lwt_unix.wait_read descriptor) (fun () -> run (); serve ()) in
  Lwt.async serve

(* A promise of a result from Rust. [start] starts the work, and returns how to cancel it. *)
let of_rust (start : 'a resolve -> cancel) =
  let promise, resolver = Lwt.task () in
  let cancel = start (Lwt.wakeup_later_result resolver) in
  Lwt.on_cancel promise cancel;
  promise

(* Gives a promise's result to Rust. Returns a function that cancels the promise. *)
let to_rust promise (resolve : 'a resolve) : cancel =
  Lwt.on_any promise (fun value -> resolve (Ok value)) (fun exn -> resolve (Error exn));
  fun () -> Lwt.cancel promise
