(* Workers on OCaml 4: threads, only one of which runs at a time. *)

type 'a t = Thread.t * 'a option ref

let start f : _ t =
  let result = ref None in
  (Thread.create (fun () -> result := Some (f ())) (), result)

let join ((thread, result) : _ t) = Thread.join thread; Option.get !result
