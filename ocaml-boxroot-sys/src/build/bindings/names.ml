(* Names of Rust, made of OCaml's. *)

let keywords = [
  "abstract"; "as"; "async"; "await"; "become"; "box"; "break"; "const"; "continue"; "do"; "dyn"; "else"; "enum"; "extern";
  "false"; "final"; "fn"; "for"; "gen"; "if"; "impl"; "in"; "let"; "loop"; "macro"; "match"; "mod"; "move"; "mut";
  "override"; "priv"; "pub"; "ref"; "return"; "static"; "struct"; "trait"; "true"; "try"; "type"; "typeof"; "unsafe";
  "unsized"; "use"; "virtual"; "where"; "while"; "yield" ]

(* Keywords that `r#` does not make identifiers. *)
let never_raw = [ "self"; "super"; "crate"; "Self"; "_" ]

let without_primes s = String.concat "_prime" (String.split_on_char '\'' s)

let identifier s =
  let s = without_primes s in
  if List.mem s never_raw then s ^ "_" else if List.mem s keywords then "r#" ^ s else s

(* order_line is OrderLine. *)
let camel s =
  let parts = String.split_on_char '_' (without_primes s) in
  let s = String.concat "" (List.map String.capitalize_ascii parts) in
  let s = if s = "" || (s.[0] >= '0' && s.[0] <= '9') then "T" ^ s else s in
  if List.mem s never_raw then s ^ "_" else s

(* Modules: OrderLine and Order_line are order_line. *)
let snake s =
  let b = Buffer.create 20 in
  String.iteri (fun i c ->
    let after_small = i > 0 && (match s.[i - 1] with 'a' .. 'z' | '0' .. '9' -> true | _ -> false) in
    if c >= 'A' && c <= 'Z' && after_small then Buffer.add_char b '_';
    Buffer.add_char b (Char.lowercase_ascii c)) s;
  identifier (Buffer.contents b)

let contains s part =
  let n = String.length part in
  let rec from i = i + n <= String.length s && (String.sub s i n = part || from (i + 1)) in
  from 0

let starts_with prefix s =
  String.length s >= String.length prefix && String.sub s 0 (String.length prefix) = prefix

(* Splits at a separator of any length. *)
let split separator s =
  let n = String.length separator in
  let rec go start i =
    if i + n > String.length s then [ String.sub s start (String.length s - start) ]
    else if i > start && String.sub s i n = separator then String.sub s start (i - start) :: go (i + n) (i + n)
    else go start (i + 1) in
  go 0 0

let replace before after s =
  let rec go = function [] -> "" | [ x ] -> x | x :: rest -> x ^ after ^ go rest in
  let n = String.length before in
  let rec pieces start i =
    if i + n > String.length s then [ String.sub s start (String.length s - start) ]
    else if String.sub s i n = before then String.sub s start (i - start) :: pieces (i + n) (i + n)
    else pieces start (i + 1) in
  go (pieces 0 0)

let is_operator s =
  let is_letter = function 'a' .. 'z' | 'A' .. 'Z' | '0' .. '9' | '_' | '\'' -> true | c -> Char.code c >= 128 in
  List.mem s [ "mod"; "land"; "lor"; "lxor"; "lsl"; "lsr"; "asr"; "or" ]
  || not (List.for_all is_letter (List.init (String.length s) (String.get s)))

(* A name that no other item has: underscores are added. *)
let rec free is_taken name = if is_taken name then free is_taken (name ^ "_") else name
