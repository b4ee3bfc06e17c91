(* Checks every implementation of a cell: it must keep values of all kinds through all kinds of
   collections, give up deleted ones, and hold many. *)

module Make (Cell : Cell.S) = struct
  let size = 3000

  let value n =
    if n mod 7 = 0 then Obj.repr n
    else if n mod 3 = 0 then Obj.repr (float n)
    else Obj.repr (Some (string_of_int n))

  let old_value n = let v = value n in Gc.minor (); v

  let collections = [| Gc.minor; Gc.minor; Gc.major; Gc.full_major; Gc.compact |]

  (* Random operations, compared with the expected values. *)
  let random_operations () =
    let expected = Array.init size Fun.id in
    let cells = Array.init size (fun i -> Cell.create (value i)) in
    let check i n = assert (Cell.get cells.(i) = value n) in
    for n = 1 to 40_000 do
      let i = Random.int size in
      let fresh = if Random.int 100 = 0 then old_value n else value n in
      if Random.bool () then Cell.modify cells i fresh
      else begin
        Cell.delete cells.(i);
        cells.(i) <- Cell.create fresh
      end;
      expected.(i) <- n;
      if Random.int 300 = 0 then begin
        collections.(Random.int (Array.length collections)) ();
        Array.iteri check expected
      end
    done;
    Array.iteri check expected;
    Array.iter Cell.delete cells

  let many () =
    let n = 300_000 in
    let cells = Array.init n (fun i -> Cell.create (ref i)) in
    Array.iteri (fun i c -> assert (!(Cell.get c) = i)) cells;
    for i = n / 2 to n - 1 do Cell.delete cells.(i) done;
    for i = n - 1 downto n / 2 do cells.(i) <- Cell.create (ref i) done;
    Gc.compact ();
    Array.iteri (fun i c -> assert (!(Cell.get c) = i)) cells;
    Array.iter Cell.delete cells

  let[@inline never] fill weak =
    Array.init (Weak.length weak) (fun i ->
        let block = ref i in
        Weak.set weak i (Some block);
        Cell.create block)

  (* Values whose cells are deleted are collected, and no others. *)
  let reclaimed () =
    let weak = Weak.create 1000 in
    let cells = fill weak in
    Gc.full_major ();
    Array.iteri (fun i _ -> assert (Weak.check weak i)) cells;
    Array.iteri (fun i c -> if i mod 2 = 1 then (Cell.delete c; cells.(i) <- cells.(i - 1))) cells;
    Gc.full_major ();
    Gc.full_major ();
    Array.iteri (fun i _ -> assert (Weak.check weak i = (i mod 2 = 0))) cells;
    Array.iteri (fun i c -> if i mod 2 = 0 then Cell.delete c) cells
end

let run (module C : Cell.S) =
  Random.init 11;
  let module T = Make (C) in
  T.random_operations ();
  T.many ();
  T.reclaimed ();
  T.random_operations ()

let () = Program.on_cells ~facts:Program.[ Untimed ] "check" run
