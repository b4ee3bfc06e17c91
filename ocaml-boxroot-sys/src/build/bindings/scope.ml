(* Names in a Rust module that is being printed, and Rust's types there. *)
open Model

(* The build script's choice for the item of this name, or for the rest. *)
type chosen = {
  attributes : string -> string list;
  int : string -> string;  (* Rust's type of OCaml's `int` *)
  is_rooted : string -> bool;  (* whether an argument of an external stays a root *)
  label_name : string -> string;  (* the Rust name of a label of OCaml, in the module `labels` *)
}

type scope = {
  path : string list;
  taken : string list;  (* names of types, traits and modules that are declared in it *)
  mutable imports : (string * string) list;  (* imports (`use`): crates, and paths in them *)
  text : Buffer.t;
  chosen : chosen;
}

(* ---- Paths ---- *)

(* A name of core's prelude, or of a primitive type. Those that std's prelude adds are imported, for `no_std` crates. *)
let std scope name path = if List.mem name scope.taken then path else name

(* A name in a module of a crate. `use` imports it, if nothing else here has that name. *)
let imported scope crate within name =
  if List.mem name scope.taken then Printf.sprintf "::%s::%s%s" crate within name
  else begin
    let import = (crate, within ^ name) in
    if not (List.mem import scope.imports) then scope.imports <- import :: scope.imports;
    name
  end

let room = function
  | "Boxroot" | "Function" | "OCamlAny" | "OCamlArray" | "OCamlBytes" | "OCamlFloat" | "OCamlInt" | "OCamlList" | "OCamlString" -> ""
  | "OCamlArray1" | "OCamlArray2" | "OCamlArray3" | "OCamlGenarray" | "CLayout" | "FortranLayout" -> "bigarray::"
  | _ -> "markers::"

let ocaml_boxroot scope name = imported scope "ocaml_boxroot" (room name) name

let rec relative from target = match from, target with
  | a :: from, b :: target when a = b -> relative from target
  | _ -> String.concat "" (List.map (fun _ -> "super::") from @ List.map (fun m -> m ^ "::") target)

(* A name of another module, or of this one. *)
let item scope place name =
  let path = relative scope.path place in
  if path = "" || Names.starts_with "super::" path then path ^ name else "self::" ^ path ^ name

let generics = function [] -> "" | l -> "<" ^ String.concat ", " l ^ ">"

(* ---- Type variables ---- *)

(* The names of variables in one declaration: of markers, A; Rust's own have an R in front. *)
type variables = (var * string) list

let variables scope vars : variables =
  List.fold_left (fun names v ->
    let is_other s = List.mem s scope.taken || List.exists (fun (_, n) -> n = s || "R" ^ n = s) names in
    let is_taken s = is_other s || is_other ("R" ^ s) in
    let plain = String.uppercase_ascii (Names.without_primes v.hint) in
    let plain = match plain.[0] with 'A' .. 'Z' -> plain | _ -> "T" ^ plain in
    let letters = if String.length plain = 1 then List.init 26 (fun i -> String.make 1 (Char.chr (Char.code 'A' + i))) else [] in
    let name = match List.find_opt (fun s -> not (is_taken s)) (plain :: letters) with
      | Some name -> name
      | None -> Names.free is_taken plain in
    names @ [ (v, name) ]) [] vars

let variable (names : variables) v = snd (List.find (fun (w, _) -> w.id = v.id) names)

(* ---- Markers ---- *)

(* The Rust module that declares labels of arguments. *)
let labels = "ocaml_labels"

(* What Rust calls the elements of a bigarray, by the first two parameters of OCaml's type. *)
let element scope a b =
  let primitive name = Some (std scope name ("::std::primitive::" ^ name)) in
  let library name = Some (ocaml_boxroot scope name) in
  match a, b with
  | Builtin (a, _), Builtin (Of_bigarray b, _) -> (match a, b with
    | Float, "float32_elt" -> primitive "f32" | Float, "float64_elt" -> primitive "f64"
    | Int, "int8_signed_elt" -> primitive "i8" | Int, "int8_unsigned_elt" -> primitive "u8"
    | Int, "int16_signed_elt" -> primitive "i16" | Int, "int16_unsigned_elt" -> primitive "u16"
    | Int32, "int32_elt" -> primitive "i32" | Int64, "int64_elt" -> primitive "i64"
    | Int, "int_elt" -> library "OCamlInt" | Nativeint, "nativeint_elt" -> library "OCamlNativeint"
    | Char, "int8_unsigned_elt" -> library "OCamlChar"
    | _ -> None)
  | _ -> None
[@@ocaml.warning "-4"]

let tuple = function [ t ] -> "(" ^ t ^ ",)" | l -> "(" ^ String.concat ", " l ^ ")"

let without_labels = function
  | Arrow (l, r) -> Arrow (List.map (fun a -> { a with arg_label = Asttypes.Nolabel }) l, r)
  | ty -> ty
[@@ocaml.warning "-4"]

let rec marker scope names ty =
  let go = marker scope names in
  let library name = ocaml_boxroot scope name in
  match ty with
  | Var v -> variable names v
  | Builtin (Bigarray name, [ a; b; layout ]) -> (match element scope a b, layout with
    | Some e, Builtin (Of_bigarray "c_layout", _) -> library ("OCaml" ^ name) ^ generics [ e ]
    | Some e, _ -> library ("OCaml" ^ name) ^ generics [ e; go layout ]
    | None, _ ->
      let part = imported scope "ocaml_boxroot" "bigarray::" in
      part "Bigarray" ^ generics (part name :: List.map go [ a; b; layout ]))
  | Builtin (Of_bigarray (("c_layout" | "fortran_layout") as name), _) -> library (Names.camel name)
  | Builtin (Of_bigarray name, _) -> imported scope "ocaml_boxroot" "bigarray::" (Names.camel name)
  | Builtin (b, l) ->
    let name = match b with
      | Int -> library "OCamlInt" | Char -> library "OCamlChar" | Uchar -> library "OCamlUchar" | String -> library "OCamlString"
      | Bytes -> library "OCamlBytes" | Float -> library "OCamlFloat" | Exn -> library "OCamlException"
      | Int32 -> library "OCamlInt32" | Int64 -> library "OCamlInt64" | Nativeint -> library "OCamlNativeint"
      | List -> library "OCamlList" | Array -> library "OCamlArray" | Seq -> library "OCamlSeq"
      | Ref -> library "OCamlRef" | Lazy -> library "OCamlLazy" | Hashtbl -> library "OCamlHashtbl"
      | Map -> library "OCamlMap" | Set -> library "OCamlSet"
      | Bool -> std scope "bool" "::std::primitive::bool" | Unit -> "()"
      | Option -> std scope "Option" "::std::option::Option"
      | Result -> std scope "Result" "::std::result::Result"
      | Bigarray _ | Of_bigarray _ -> assert false in
    name ^ generics (List.map go l)
  | Named (d, l) -> item scope d.place ("OCaml" ^ d.name) ^ generics (List.map go l)
  | Tuple l -> "(" ^ String.concat ", " (List.map (fun (_, t) -> go t) l) ^ ")"
  | Arrow (l, _) when has_labels l ->
    let declared l = item scope [ labels ] (scope.chosen.label_name l) in
    let label a = match a.arg_label with
      | Asttypes.Nolabel -> "()"
      | Labelled l -> declared l
      | Optional l -> library "Optional" ^ generics [ declared l ] in
    Printf.sprintf "%s<%s, %s>" (library "Labelled") (tuple (List.map label l)) (go (without_labels ty))
  | Arrow ([ { arg = Builtin (Unit, _); arg_label = Nolabel } ], r) ->
    Printf.sprintf "%s<(), %s>" (library "Function") (go r)
  | Arrow (l, r) -> Printf.sprintf "%s<%s, %s>" (library "Function") (tuple (List.map (fun a -> go a.arg) l)) (go r)

(* Rust converts a function with labels to one without. *)
let root scope names ty = Printf.sprintf "%s<%s>" (ocaml_boxroot scope "Boxroot") (marker scope names (without_labels ty))

(* ---- Natural types ---- *)

type position = {
  names : variables;
  var : var -> string;  (* what stands for a variable *)
  to_ocaml : bool;
  circle : decl list;  (* types that are boxed *)
  called : string option;  (* what build scripts call it, if they may choose Rust's type of `int` *)
}

let rec natural scope position ty =
  let go = natural scope position in
  let vec element = Printf.sprintf "%s<%s>" (imported scope "std" "vec::" "Vec") element in
  let primitive name = std scope name ("::std::primitive::" ^ name) in
  match ty with
  | Var v -> position.var v
  | _ when Analysis.is_root ~to_ocaml:position.to_ocaml ty -> root scope position.names ty
  | Builtin (b, l) -> (match b, l with
    | Int, _ -> primitive (match position.called with Some place -> scope.chosen.int place | None -> "isize")
    | Nativeint, _ -> primitive "isize"
    | Char, _ -> primitive "u8"
    | Uchar, _ -> primitive "char"
    | String, _ -> imported scope "std" "string::" "String"
    | Bytes, _ -> vec (primitive "u8")
    | Float, _ -> primitive "f64"
    | Bool, _ -> primitive "bool"
    | Unit, _ -> "()"
    | Int32, _ -> primitive "i32"
    | Int64, _ -> primitive "i64"
    | (List | Array), _ -> vec (String.concat ", " (List.map (natural scope { position with circle = [] }) l))
    | Option, _ -> std scope "Option" "::std::option::Option" ^ generics (List.map go l)
    | Result, _ -> std scope "Result" "::std::result::Result" ^ generics (List.map go l)
    | (Exn | Seq | Ref | Lazy | Hashtbl | Map | Set | Bigarray _ | Of_bigarray _), _ -> assert false)
  | Named (d, l) ->
    let arguments = List.map2 (fun p t -> (p, t)) d.params l in
    let used = List.filter (fun (p, _) -> mem p d.used) arguments in
    let path = match d.rust with User path -> path | _ -> item scope d.place d.name in
    let parameter t = if d.has_markers then marker scope position.names t else go t in
    let t = path ^ generics (List.map (fun (_, t) -> parameter t) used) in
    if List.memq d position.circle then Printf.sprintf "%s<%s>" (imported scope "std" "boxed::" "Box") t else t
  | Tuple l -> "(" ^ String.concat ", " (List.map (fun (_, t) -> go t) l) ^ ")"
  | Arrow _ -> assert false

(* In functions, a variable is a root. *)
let in_function scope ~to_ocaml ~place names =
  { names; to_ocaml; called = place; circle = []; var = (fun v -> root scope names (Var v)) }
