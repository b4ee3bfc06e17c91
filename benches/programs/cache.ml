(* A long-lived cache of SIZE roots. Each step reads a random root and replaces a random root, until CYCLES major cycles have
   ended. A step also allocates a buffer, which lives for a while: these allocations make the collector work. Measures pauses
   over time. *)

open Measure
open Many_roots

(* The number of time spans that are printed. *)
let spans = 100

(* Runs the stretches of [cycles] major cycles. For each span of a hundredth of a second or more, returns its end and
   the time of its longest stretch. Also returns the total time. *)
let measure step ~cycles =
  let start = clock () and all = ref [] and longest = ref 0. in
  let span_start = ref start and last = ref start in
  let end_span () = all := (!last -. start, !longest) :: !all in
  stretches step ~cycles (fun now took ->
      last := now;
      longest := max !longest took;
      if now -. !span_start > 0.01 then begin
        end_span ();
        span_start := now;
        longest := 0.
      end);
  end_span ();
  (!all, !last -. start)

(* Prints the longest stretch in each of [spans] equal spans of time. *)
let print_spans all seconds =
  let longest = Array.make spans 0. in
  let note (time, pause) =
    let i = min (spans - 1) (int_of_float (time /. seconds *. float spans)) in
    longest.(i) <- max longest.(i) pause
  in
  List.iter note all;
  let print i pause =
    if pause > 0. then Printf.printf "pause_%02d %.9f\n" i pause
  in
  Array.iteri print longest;
  Measure.print "longest_pause" (Array.fold_left max 0. longest)

let run (module C : Cell.S) =
  let module M = Make (C) in
  let n = size 10_000_000 in
  let cells = M.random n in
  let random = Random.State.make [| 5 |] and steps = ref 0 and sum = ref 0 in
  (* There are more buffers than steps between two minor collections, so buffers are promoted. *)
  let buffers = Array.make 10_000 Bytes.empty in
  let step () =
    let i = Random.State.full_int random n and j = Random.State.full_int random n in
    sum := !sum + !(C.get cells.(i));
    C.delete cells.(j);
    cells.(j) <- C.create (ref j);
    buffers.(!steps mod Array.length buffers) <- Bytes.create 240;
    incr steps
  in
  let cycles = Parameters.int "CYCLES" 12 in
  warm_up step ~cycles;
  steps := 0;
  let print_longest_hook = watch () in
  let all, seconds = measure step ~cycles in
  print "seconds" seconds;
  print "ns_per_step" (1e9 *. seconds /. float !steps);
  print_spans all seconds;
  print_longest_hook ();
  ignore (Sys.opaque_identity (cells, sum, buffers))

let () =
  Program.on_cells ~facts:Program.[ About "longest_pause"; Short 1_000_000 ] "cache" run
