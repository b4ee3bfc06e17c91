(* A cache that lives long: SIZE roots, of which one is read and one is replaced at each step, at random,
   until CYCLES major collections have ended. A step also allocates a buffer, which lives for a while: these
   allocations make the collector work. Measures pauses over time. *)

open Measure
open Many_roots

(* How many spans of time are printed. *)
let spans = 100

(* Calls [step] again and again, in stretches of 100. Returns, for each hundredth of a second or more, when it
   ended and how long its longest stretch took; and how long all took. *)
let measure step ~cycles =
  let all = ref [] and start = clock () and last = major_collections () + cycles in
  let before = ref start and span_start = ref start and longest = ref 0. in
  while major_collections () < last do
    for _ = 1 to 100 do step () done;
    let now = clock () in
    longest := max !longest (now -. !before);
    before := now;
    if now -. !span_start > 0.01 then begin
      all := (now -. start, !longest) :: !all;
      span_start := now;
      longest := 0.
    end
  done;
  ((!before -. start, !longest) :: !all, !before -. start)

(* Prints the longest stretch in each of [spans] equal spans of time. *)
let print_spans all seconds =
  let longest = Array.make spans 0. in
  let note (time, pause) =
    let i = min (spans - 1) (int_of_float (time /. seconds *. float spans)) in
    longest.(i) <- max longest.(i) pause
  in
  List.iter note all;
  let print i pause =
    if pause > 0. then begin
      Printf.printf "time_%02d %.9f\n" i ((float i +. 0.5) *. seconds /. float spans);
      Printf.printf "pause_%02d %.9f\n" i pause
    end
  in
  Array.iteri print longest;
  Measure.print "longest_pause" (Array.fold_left max 0. longest)

let run (module C : Cell.S) =
  let module M = Make (C) in
  let n = size 10_000_000 in
  let cells, print_longest_hook = M.watched n in
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
  let all, seconds = measure step ~cycles:(Parameters.int "CYCLES" 3) in
  print "seconds" seconds;
  print "ns_per_step" (1e9 *. seconds /. float !steps);
  print_spans all seconds;
  print_longest_hook ();
  ignore (Sys.opaque_identity (cells, sum, buffers))

let () =
  Program.on_cells ~facts:Program.[ About "longest_pause"; Short 1_000_000 ] "cache" run
