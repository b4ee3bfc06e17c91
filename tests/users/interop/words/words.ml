(* How often each word of a text occurs, in the order of the alphabet. *)
let count_words text =
  let words = List.filter (( <> ) "") (String.split_on_char ' ' text) in
  if words = [] then failwith "no words";
  let occurs word = List.length (List.filter (( = ) word) words) in
  List.map (fun word -> (word, occurs word)) (List.sort_uniq compare words)

let () = Callback.register "count_words" count_words
