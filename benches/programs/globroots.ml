(* Few roots, and a collection at every second step: measures the cost of scanning the roots. *)

module Make (Cell : Cell.S) = struct
  let size = 1024
  let creates = ref 0
  let create x = incr creates; Cell.create x

  let run steps =
    Random.init 314159;
    let values = Array.init size string_of_int in
    let cells = Array.init size (fun i -> create values.(i)) in
    let pair = ref (0, 1) in
    for _ = 1 to steps do
      (pair := match !pair with a, b -> (b, a));
      let i = Random.int size in
      match Random.int 37 with
      | 0 -> Gc.full_major ()
      | 1 | 2 | 3 | 4 -> Gc.minor ()
      | n when n <= 12 -> Cell.modify cells i (string_of_int i)
      | n when n <= 20 -> Cell.modify cells i values.(i)
      | n when n <= 28 ->
        Cell.delete cells.(i);
        cells.(i) <- create (string_of_int i)
      | _ ->
        Cell.delete cells.(i);
        cells.(i) <- create values.(i)
    done;
    Array.iteri (fun i c -> assert (Cell.get c = string_of_int i)) cells;
    Array.iter Cell.delete cells
end

let run (module C : Cell.S) =
  let module G = Make (C) in
  let steps = Parameters.int "SIZE" 500_000 in
  Measure.print_time (fun () -> G.run steps);
  Measure.print_count "creates" !G.creates

let () = Program.on_cells ~facts:Program.[ Deterministic ] "globroots" run
