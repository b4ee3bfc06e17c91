(* Promises between Lwt and Rust. Copy this file. *)

type 'a resolve = ('a, exn) result -> unit
type cancel = unit -> unit

(* To be called once, in Lwt's thread. From now on, [run] runs Rust's CompletionQueue when there is
   something in it; its descriptor tells when. *)
let serve descriptor run =
  let descriptor : Unix.file_descr = Obj.magic (descriptor : int) in
  let descriptor = Lwt_unix.of_unix_file_descr ~blocking:false ~set_flags:false descriptor in
  let rec serve () = Lwt.bind (Lwt_unix.wait_read descriptor) (fun () -> run (); serve ()) in
  Lwt.async serve

(* The promise of what Rust is waited for. [start] starts it, and returns how to cancel it. *)
let of_rust (start : 'a resolve -> cancel) =
  let promise, resolver = Lwt.task () in
  let cancel = start (Lwt.wakeup_later_result resolver) in
  Lwt.on_cancel promise cancel;
  promise

(* Gives a promise's result to Rust. The result cancels the promise. *)
let to_rust promise (resolve : 'a resolve) : cancel =
  Lwt.on_any promise (fun value -> resolve (Ok value)) (fun exn -> resolve (Error exn));
  fun () -> Lwt.cancel promise
