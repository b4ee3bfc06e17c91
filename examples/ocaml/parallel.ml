(* The OCaml side of parallel.rs: work that only computes, and work that allocates. *)

let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

module Numbers = Map.Make (Int)

(* Builds a map in each round, and returns the sum of their sizes. *)
let allocate rounds =
  let sizes = List.init rounds (fun round ->
      Numbers.cardinal (List.fold_left (fun map n -> Numbers.add (n * round mod 1009) n map) Numbers.empty
        (List.init 1000 Fun.id)))
  in
  List.fold_left ( + ) 0 sizes

let collect times = for _ = 1 to times do Gc.minor () done

let () =
  Callback.register "parallel.fib" fib;
  Callback.register "parallel.allocate" allocate;
  Callback.register "parallel.collect" collect
