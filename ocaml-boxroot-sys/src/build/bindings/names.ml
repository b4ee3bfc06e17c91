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

(* Without the `r#` of a keyword. *)
let not_raw s = if String.length s > 2 && String.sub s 0 2 = "r#" then String.sub s 2 (String.length s - 2) else s

(* Words that are names only as \#let and the like, from OCaml 5.2 on. *)
let ocaml_keywords = Compat.new_keywords @ [
  "and"; "as"; "assert"; "begin"; "class"; "constraint"; "do"; "done"; "downto"; "else"; "end"; "exception"; "external";
  "false"; "for"; "fun"; "function"; "functor"; "if"; "in"; "include"; "inherit"; "initializer"; "lazy"; "let"; "match";
  "method"; "module"; "mutable"; "new"; "nonrec"; "object"; "of"; "open"; "private"; "rec"; "sig"; "struct"; "then"; "to";
  "true"; "try"; "type"; "val"; "virtual"; "when"; "while"; "with" ]

(* A name of a value, a type, a label or a field, as OCaml code says it. *)
let ocaml s = if List.mem s ocaml_keywords then "\\#" ^ s else s

(* Constructors that are signs; OCaml's lists have two of them. *)
let signs = [ ("::", "Cons"); ("[]", "Nil"); ("()", "Unit") ]

(* A constructor, as OCaml code declares it. *)
let constructor s = if s = "::" then "(::)" else s

(* order_line is OrderLine. *)
let camel s =
  let s = Option.value (List.assoc_opt s signs) ~default:s in
  let parts = String.split_on_char '_' (without_primes s) in
  let s = String.concat "" (List.map Compat.capitalize parts) in
  let s = if s = "" || (s.[0] >= '0' && s.[0] <= '9') then "T" ^ s else s in
  if List.mem s never_raw then s ^ "_" else s

(* The characters of a string in UTF-8. *)
let characters s =
  let is_first i = Char.code s.[i] land 0xC0 <> 0x80 in
  let rec from i =
    if i >= String.length s then []
    else
      let rec until j = if j < String.length s && not (is_first j) then until (j + 1) else j in
      let j = until (i + 1) in
      String.sub s i (j - i) :: from j in
  from 0

(* Modules: OrderLine and Order_line are order_line. *)
let snake s =
  let rec words is_after_small = function
    | [] -> []
    | c :: rest ->
      let small = Compat.uncapitalize c in
      let is_small = Compat.capitalize c <> c || (c >= "0" && c <= "9") in
      (if small <> c && is_after_small then "_" ^ small else small) :: words is_small rest in
  identifier (String.concat "" (words false (characters s)))

(* Whether `part` is in `s` at this index. *)
let is_at s i part =
  let n = String.length part in
  let rec same k = k = n || (s.[i + k] = part.[k] && same (k + 1)) in
  i + n <= String.length s && same 0

let starts_with prefix s = is_at s 0 prefix

let contains s part = List.exists (fun i -> is_at s i part) (List.init (String.length s) Fun.id)

(* Splits at a separator of any length. A separator at the beginning of a piece belongs to the piece. *)
let split separator s =
  let n = String.length separator in
  let rec pieces start i =
    if i >= String.length s then [ String.sub s start (String.length s - start) ]
    else if i > start && is_at s i separator then String.sub s start (i - start) :: pieces (i + n) (i + n)
    else pieces start (i + 1) in
  pieces 0 0

let replace before after s =
  let b = Buffer.create (String.length s) in
  let rec go i =
    if i < String.length s then
      if is_at s i before then begin Buffer.add_string b after; go (i + String.length before) end
      else begin Buffer.add_char b s.[i]; go (i + 1) end in
  go 0;
  Buffer.contents b

(* The name under which an item is registered, by its path: without `\#`, which strings do not take. *)
let registered path = replace "\\#" "" path

(* Whether all characters may stand in a name of C. *)
let is_c_name = String.for_all (function 'a' .. 'z' | 'A' .. 'Z' | '0' .. '9' | '_' -> true | _ -> false)

(* A name of C, made of any name. *)
let c_name s =
  let encoded c = if is_c_name (String.make 1 c) then String.make 1 c else Printf.sprintf "x%02x" (Char.code c) in
  String.concat "" (List.map encoded (List.of_seq (String.to_seq s)))

let is_operator s =
  let is_letter = function 'a' .. 'z' | 'A' .. 'Z' | '0' .. '9' | '_' | '\'' -> true | c -> Char.code c >= 128 in
  List.mem s [ "mod"; "land"; "lor"; "lxor"; "lsl"; "lsr"; "asr"; "or" ]
  || not (List.for_all is_letter (List.init (String.length s) (String.get s)))

let names_of_signs = [
  '+', "plus"; '-', "minus"; '*', "star"; '/', "slash"; '=', "eq"; '<', "lt"; '>', "gt"; '@', "at"; '^', "caret"; '&', "amp";
  '|', "bar"; '!', "bang"; '?', "question"; '%', "percent"; '~', "tilde"; ':', "colon"; '.', "dot"; '$', "dollar"; '#', "hash";
  '(', "paren"; '[', "bracket"; '{', "brace"; ')', ""; ']', ""; '}', ""; ';', "semi" ]

(* The name of an operator in Rust: `op_let_star` of `let*`. None if it is none of OCaml. *)
let operator s =
  let word = String.length (List.find (fun prefix -> starts_with prefix s) [ "let"; "and"; "" ]) in
  let signs = List.map (fun c -> List.assoc_opt c names_of_signs) (List.of_seq (String.to_seq (String.sub s word (String.length s - word)))) in
  if String.for_all (function 'a' .. 'z' -> true | _ -> false) s then Some ("op_" ^ s)
  else if List.mem None signs then None
  else Some (String.concat "_" ("op" :: List.filter ((<>) "") (String.sub s 0 word :: List.filter_map Fun.id signs)))

(* A value of OCaml in Rust. *)
let value s = match if is_operator s then operator s else None with Some name -> name | None -> without_primes s

(* Whether OCaml code can name a value so. A value that a preprocessor named may be called `_`. *)
let has_path s =
  if is_operator s then operator s <> None
  else s <> "_" && match s.[0] with 'a' .. 'z' | '_' -> true | c -> Char.code c >= 128

(* Whether a text is the path of an item of Rust. *)
let is_path s = s <> "" && String.for_all (fun c -> c = ':' || is_c_name (String.make 1 c)) s

(* Whether a text is one attribute of Rust: its first bracket ends with it. Text in quotes does not count. *)
let is_attribute s =
  let n = String.length s in
  let rec ends i depth is_quoted =
    i < n && match s.[i] with
      | '\\' when is_quoted -> ends (i + 2) depth true
      | '"' -> ends (i + 1) depth (not is_quoted)
      | '[' when not is_quoted -> ends (i + 1) (depth + 1) false
      | ']' when not is_quoted -> if depth = 1 then i = n - 1 else ends (i + 1) (depth - 1) false
      | _ -> ends (i + 1) depth is_quoted in
  starts_with "#[" s && ends 1 0 false

(* "There are: a, b". *)
let there_are = function [] -> "There are none." | names -> "There are: " ^ String.concat ", " names

(* A name that no other item has: underscores are added. *)
let rec free is_taken name = if is_taken name then free is_taken (name ^ "_") else name

(* Why a name ends with underscores that `free` added. *)
let note ~wanted ~other name = if name = wanted then "" else Printf.sprintf "`%s` in Rust: `%s` is %s" name wanted other

(* Different names for the parts of one item. Those that Rust spells as OCaml does keep their names. *)
let distinct rust names =
  let taken = Hashtbl.create 10 in
  let add given name =
    let free = free (Hashtbl.mem taken) (rust name) in
    Hashtbl.replace taken free ();
    (name, free) :: given in
  let plain, others = List.partition (fun name -> rust name = name) names in
  let given = List.fold_left add [] (plain @ others) in
  List.map (fun name -> List.assoc name given) names
