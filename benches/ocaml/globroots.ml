(* Few roots, and a collection at every other step: the cost of scanning them. *)

module Make (Cell : Cell.S) = struct
  let size = 1024

  let run steps =
    Random.init 314159;
    let values = Array.init size string_of_int in
    let cells = Array.init size (fun i -> Cell.create values.(i)) in
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
        cells.(i) <- Cell.create (string_of_int i)
      | _ ->
        Cell.delete cells.(i);
        cells.(i) <- Cell.create values.(i)
    done;
    Array.iteri (fun i c -> assert (Cell.get c = string_of_int i)) cells;
    Array.iter Cell.delete cells
end
