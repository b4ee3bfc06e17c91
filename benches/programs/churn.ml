(* SIZE long-lived roots that are replaced. Each step reads a random root and replaces it by a fresh block, until CYCLES major
   cycles have ended. A step also makes 240 bytes of garbage. The set of live values has a constant size, so growth from cycle
   to cycle indicates a leak. *)

open Measure
open Many_roots

let minor_collections () = (Gc.quick_stat ()).minor_collections

let run (module C : Cell.S) =
  let n = size 200_000 and cycles = Parameters.int "CYCLES" 60 in
  let cells = Array.init n (fun i -> C.create (ref i)) in
  let random = Random.State.make [| 5 |] and steps = ref 0 in
  let step () =
    let i = Random.State.full_int random n in
    assert (!(C.get cells.(i)) = i);
    C.delete cells.(i);
    cells.(i) <- C.create (ref i);
    ignore (Sys.opaque_identity (Bytes.create 240));
    incr steps
  in
  warm_up step ~cycles;
  steps := 0;
  let start = Sys.time () and minors = minor_collections () in
  (* The longest hundred steps of each cycle. *)
  let longest_of_cycle () =
    let longest = ref 0. in
    stretches step ~cycles:1 (fun _ took -> longest := max !longest took);
    !longest
  in
  let longest = Array.init cycles (fun _ -> longest_of_cycle ()) in
  print "user_ns_per_step" (1e9 *. (Sys.time () -. start) /. float !steps);
  print "minors_per_cycle" (float (minor_collections () - minors) /. float cycles);
  print "longest_pause" (Array.fold_left ( +. ) 0. longest /. float cycles);
  print "longest" (Array.fold_left max 0. longest);
  ignore (Sys.opaque_identity cells)

let () = Program.on_cells ~facts:Program.[ About "longest_pause"; Short 10_000 ] "churn" run
