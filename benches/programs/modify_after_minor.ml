(* Changes old roots to an old value, each once after each minor collection. The collections are not timed. *)

open Loops

let run () =
  let n = size 1_000 and roots = 10 * batch in
  let values = old_roots roots in
  finish_marking ();
  let seconds = ref 0. in
  for i = 1 to n do
    ignore (Sys.opaque_identity (ref i)); (* OCaml 4 skips empty collections *)
    Gc.minor ();
    seconds := !seconds +. Measure.time (fun () -> modify values.(0) 1)
  done;
  print_seconds (n * roots) !seconds

let () = Program.on_loops ~facts:Program.[ Short 100 ] "modify_after_minor" run
