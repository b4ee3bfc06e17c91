(* Uses two Rust libraries. Closures and boxes of each call their own library, not the one whose names the dynamic linker found
   first. *)
type greet = string -> int -> string
type owner
type note
type word

external first_greet : unit -> greet = "first_greet"
external second_greet : unit -> greet = "second_greet"
external first_boxed : int -> owner = "first_boxed"
external second_boxed : int -> owner = "second_boxed"
external first_note : string -> note = "first_note"
external second_note : string -> note = "second_note"
external first_read : note -> string = "first_read"
external second_read : note -> string = "second_read"
external first_word : string -> word = "first_word"
external second_word : string -> word = "second_word"
external first_spell : word -> string = "first_spell"
external second_spell : word -> string = "second_spell"
external first_dropped : unit -> int = "first_dropped"
external second_dropped : unit -> int = "second_dropped"

let use name greet boxed dropped =
  let greet : greet = greet () in
  for i = 1 to 1000 do
    let greet_one = greet (string_of_int i) in
    if i mod 100 = 0 then Gc.full_major ();
    if greet_one i <> Printf.sprintf "%s %d %d" name i i then failwith (greet_one i)
  done;
  for _ = 1 to 1000 do ignore (Sys.opaque_identity (boxed 10 : owner)) done;
  Gc.full_major ();
  Gc.full_major ();
  if dropped () <> 10_000 then failwith (Printf.sprintf "%d roots of %s were dropped" (dropped ()) name)

let () =
  use "first" first_greet first_boxed first_dropped;
  use "second" second_greet second_boxed second_dropped

(* The contents of a box may depend on variables of the library that made it. The other library has the same type only by
   chance. Static libraries share their variables. *)
let () =
  let refuses read note = match read note with exception Failure _ -> true | (_ : string) -> false in
  if first_read (first_note "one") <> "one" || second_read (second_note "two") <> "two" then failwith "own notes";
  let both = refuses first_read (second_note "two") && refuses second_read (first_note "one") in
  if not (both || Array.mem "static" Sys.argv) then failwith "notes of the other library"

(* When OCaml unmarshals a box, it finds the right library. All boxes have one common order. *)
let () =
  let again word : word = Marshal.from_string (Marshal.to_string word []) 0 in
  let one = first_word "one" and two = second_word "two" in
  if first_spell (again one) <> "one" || second_spell (again two) <> "two" then failwith "words";
  if compare one two <> - (compare two one) then failwith "no order"
