(* The functions that the programs of this folder call: a table of closures with a state. *)
let counter word =
  let count = ref 0 in
  fun () -> incr count; Printf.sprintf "%s %d" word !count

let () = Callback.register "counter" counter
