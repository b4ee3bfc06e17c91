(* A persistent index of words: each update makes a new map that shares most of the old one. *)

module Words = Map.Make (String)

(* Adds one occurrence of a word. *)
let add (index : int Words.t) word =
  Words.update word (function None -> Some 1 | Some n -> Some (n + 1)) index

let count (index : int Words.t) word = try Words.find word index with Not_found -> 0

(* The n most frequent words, each as "count word\n"; ties in alphabetical order. *)
let top (index : int Words.t) n =
  let by_count (w1, n1) (w2, n2) = if n1 <> n2 then compare n2 n1 else compare w1 w2 in
  let sorted = List.sort by_count (Words.bindings index) in
  let lines = List.filteri (fun i _ -> i < n) sorted in
  String.concat "" (List.map (fun (w, n) -> Printf.sprintf "%d %s\n" n w) lines)

let total (index : int Words.t) = Words.fold (fun _ n sum -> n + sum) index 0

let gc_counts () =
  let s = Gc.quick_stat () in
  Printf.sprintf "%d minor and %d major collections, %d compactions" s.minor_collections
    s.major_collections s.compactions

let () =
  Callback.register "wordindex.empty" (Words.empty : int Words.t);
  Callback.register "wordindex.add" add;
  Callback.register "wordindex.count" count;
  Callback.register "wordindex.top" top;
  Callback.register "wordindex.total" total;
  Callback.register "wordindex.gc_counts" gc_counts
