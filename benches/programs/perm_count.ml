(* Counts the permutations of [0; …; n-1] in a linear non-determinism monad over lists of cells:
   each computation is used once, so each cell is created once and deleted once. *)

module type MONAD = sig
  type 'a m
  val return : 'a -> 'a m
  val choice : 'a m -> 'a m -> 'a m
  val map : ('a -> 'a) -> 'a m -> 'a m
  val bind : 'a m -> ('a -> 'b m) -> 'b m
  val run : ('a -> unit) -> 'a m -> unit
end

module Permutations (M : MONAD) = struct
  let rec insert e = function
    | [] -> M.return [ e ]
    | x :: xs -> M.choice (M.return (e :: x :: xs)) (M.map (fun l -> x :: l) (insert e xs))

  let rec perm = function [] -> M.return [] | x :: xs -> M.bind (perm xs) (insert x)

  let count n =
    let count = ref 0 in
    M.run (fun _ -> incr count) (perm (List.init n Fun.id));
    !count
end

let rec factorial n = if n <= 1 then 1 else n * factorial (n - 1)

(* The number of cells that [insert] and [perm] create. *)
let rec insert_creates n = if n = 0 then 1 else 1 + insert_creates (n - 1) + n
let rec creates n = if n = 0 then 1 else creates (n - 1) + (factorial (n - 1) * insert_creates (n - 1))

(* Each instance has its own counters, and each domain its own instance. *)
module Make (Cell : Cell.S) () = struct
  let created = ref 0
  let deleted = ref 0
  let create x = incr created; Cell.create x
  let consume c = let x = Cell.get c in incr deleted; Cell.delete c; x

  module Persistent = struct
    type 'a m = 'a Cell.t list
    let return x = [ create x ]
    let choice a b = List.rev_append a b
    let map f a = List.rev_map (fun c -> create (f (consume c))) a
    let bind a f = List.fold_left (fun acc c -> List.rev_append (f (consume c)) acc) [] a
    let run f a = List.iter (fun c -> f (consume c)) a
  end

  (* Lists that are updated in place. *)
  module Ephemeral = struct
    type 'a m = Nil | Cons of { mutable head : 'a Cell.t; mutable tail : 'a m }
    let return x = Cons { head = create x; tail = Nil }

    let choice a b =
      let rec append = function
        | Nil -> ()
        | Cons ({ tail = Nil; _ } as last) -> last.tail <- b
        | Cons { tail; _ } -> append tail
      in
      match a with Nil -> b | Cons _ -> append a; a

    let map f a =
      let rec update = function
        | Nil -> ()
        | Cons c -> c.head <- create (f (consume c.head)); update c.tail
      in
      update a; a

    let bind a f =
      let rec go acc = function
        | Nil -> acc
        | Cons { head; tail } -> go (choice (f (consume head)) acc) tail
      in
      go Nil a

    let rec run f = function Nil -> () | Cons { head; tail } -> f (consume head); run f tail
  end

  module P = Permutations (Persistent)
  module E = Permutations (Ephemeral)

  let count choice n =
    let count = if choice = "ephemeral" then E.count n else P.count n in
    assert (count = factorial n && !created = creates n && !deleted = !created)
end

let run (module C : Cell.S) =
  let choice = Parameters.choice "CHOICE" [ "persistent"; "ephemeral" ] in
  let n = Parameters.int "N" 10 in
  let module P = Make (C) () in
  Measure.print_time (fun () -> P.count choice n);
  Measure.print_count "creates" !P.created

let () = Program.on_cells ~facts:Program.[ Deterministic ] "perm_count" run
