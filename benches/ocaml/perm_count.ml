(* Counts the permutations of [0; …; n-1] in a linear non-determinism monad over lists of cells:
   each computation is used once, so each cell is created once and deleted once. *)

let live = ref 0

module Make (Cell : Cell.S) = struct
  let create x = incr live; Cell.create x
  let consume c = let x = Cell.get c in decr live; Cell.delete c; x

  let return x = [ create x ]
  let choice a b = List.rev_append a b
  let map f a = List.rev_map (fun c -> create (f (consume c))) a
  let bind a f = List.fold_left (fun acc c -> List.rev_append (f (consume c)) acc) [] a
  let run f a = List.iter (fun c -> f (consume c)) a

  let rec insert e = function
    | [] -> return [ e ]
    | x :: xs -> choice (return (e :: x :: xs)) (map (fun l -> x :: l) (insert e xs))

  let rec perm = function [] -> return [] | x :: xs -> bind (perm xs) (insert x)

  let count n =
    let count = ref 0 in
    run (fun _ -> incr count) (perm (List.init n Fun.id));
    let rec factorial n = if n <= 1 then 1 else n * factorial (n - 1) in
    assert (!count = factorial n && !live = 0)
end
