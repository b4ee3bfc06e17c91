type size = Small | Large | Custom of { grams : int }
type item = { name : string; size : size; price : float; tags : string list }

type place = [ `Shelf of int | `Cellar ]
type 'a tree = Leaf | Node of 'a tree * 'a * 'a tree
type count = { mutable left : int; label : string }

exception Missing of string * int

module Names = Map.Make (String)

let grams = function Small -> 250 | Large -> 1000 | Custom { grams } -> grams
let cheaper percent item = { item with price = item.price *. (1. -. (percent /. 100.)) }
let place item : place = match item.size with Small -> `Shelf 2 | _ -> `Cellar
let rec insert x = function
  | Leaf -> Node (Leaf, x, Leaf)
  | Node (l, y, r) when x < y -> Node (insert x l, y, r)
  | Node (l, y, r) -> Node (l, y, insert x r)

let by_name items = List.fold_left (fun names item -> Names.add item.name item.price names) Names.empty items
let index items = List.to_seq items |> Seq.map (fun item -> (item.name, item)) |> Hashtbl.of_seq
let lowest prices = Names.fold (fun _ price lowest -> Float.min price lowest) prices infinity
let sold = ref 0
let sell n = sold := !sold + n
let catalogue = lazy (String.concat ", " [ "salt"; "tea" ])
let print_catalogue () = print_endline (Lazy.force catalogue)
let count label left = { left; label }

let take n count =
  if n > count.left then raise (Missing (count.label, n - count.left));
  count.left <- count.left - n

let double prices = Array.iteri (fun i price -> prices.(i) <- 2. *. price) prices

type guess = string -> size

let weigh (guess : guess) name = grams (guess name)
let find name items = List.find (fun item -> item.name = name) items

open Bigarray

let price_table (prices : (float, float64_elt, c_layout) Array1.t) =
  Array2.init float64 c_layout (Array1.dim prices) 2 (fun i j -> prices.{i} *. float_of_int (j + 1))

let sum_of_row i (table : (float, float64_elt, c_layout) Array2.t) =
  let sum = ref 0. in
  for j = 0 to Array2.dim2 table - 1 do sum := !sum +. table.{i, j} done;
  !sum
