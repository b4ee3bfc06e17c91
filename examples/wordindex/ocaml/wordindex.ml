module Words = Map.Make (String)

type t = int Words.t

let empty = Words.empty
let add index word = Words.update word (function None -> Some 1 | Some n -> Some (n + 1)) index
let count index word = try Words.find word index with Not_found -> 0
let total index = Words.fold (fun _ n sum -> n + sum) index 0

let top index n =
  let by_count (w1, n1) (w2, n2) = if n1 <> n2 then compare n2 n1 else compare w1 w2 in
  let sorted = List.sort by_count (Words.bindings index) in
  List.map (fun (w, n) -> Printf.sprintf "%d %s" n w) (List.filteri (fun i _ -> i < n) sorted)

let gc_counts () =
  let s = Gc.quick_stat () in
  Printf.sprintf "%d minor and %d major collections, %d compactions" s.minor_collections
    s.major_collections s.compactions
