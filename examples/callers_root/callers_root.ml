(* The same C functions with OCaml's CAMLparam and CAMLlocal, and with the convention "the caller roots"
   (callers_root_stubs.c): both are right, and give the same.

   Run it: `make -C examples callers-root` *)

type tree = Leaf | Node of tree * string * tree

external camlparam : string list -> tree = "tree_camlparam"
external callers_root : string list -> tree = "tree_callers_root"

let rec elements tree rest =
  match tree with
  | Leaf -> rest
  | Node (left, word, right) -> elements left (word :: elements right rest)

let () =
  let words = List.init 5_000 (fun i -> string_of_int (i * 7919 mod 10_007)) in
  let sorted = List.sort_uniq compare words in
  for round = 1 to 20 do
    if round mod 10 = 0 then Gc.compact ();
    assert (elements (camlparam words) [] = sorted);
    assert (elements (callers_root words) [] = sorted)
  done;
  Printf.printf "%d words, sorted twice, in the same way\n" (List.length sorted)
