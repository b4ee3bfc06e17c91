(* What the generator understands of OCaml's types. reader.ml makes it from the compiler's typed tree; rust.ml and glue.ml
   print it. *)

(* A type variable. Its identity is the number: two variables may have one name. *)
type var = { id : int; hint : string }

type builtin =
  | Int | Char | Uchar | String | Bytes | Float | Bool | Unit | Exn | Int32 | Int64 | Nativeint
  | List | Array | Option | Result | Seq | Ref | Lazy | Hashtbl
  | Map | Set  (* of the standard library; the first parameter is the type of the keys or elements, a predefined one *)
  | Bigarray of string  (* `t` of this module in `Bigarray`, with OCaml's parameters *)
  | Of_bigarray of string  (* a parameter of these, of `Bigarray`: c_layout, float64_elt and the like *)

type ty =
  | Var of var
  | Builtin of builtin * ty list
  | Named of decl * ty list
  | Tuple of (string option * ty) list  (* labels: OCaml 5.4 *)
  (* Markers have the labels: they must differ whenever OCaml's types do, or the match of a GADT could meet a case that OCaml has
     ruled out. *)
  | Arrow of argument list * ty

(* An optional argument's type is an `option`. *)
and argument = { arg_label : Asttypes.arg_label; arg : ty }

and field = { label : string; ty : ty; is_mutable : bool; is_atomic : bool }

and parts = Positional of ty list | Labelled of field list

(* How a constructor is represented. `Hash` and `Tagged` are for polymorphic variants, without and with an argument. *)
and tag = Constant of int | Block of int | Hash of int | Tagged of int

and constructor = { constructor : string; parts : parts; tag : tag }

and kind =
  | Opaque
  (* `Regular_of_floats`: At the declaration of the record, OCaml did not know that all fields are floats. *)
  | Record of field list * [ `Regular | `Regular_of_floats | `Flat ]
  | Unboxed of string option * parts  (* a record, or a variant with this constructor; without labels, a private abbreviation *)
  | Variant of constructor list
  | Row of constructor list  (* a polymorphic variant *)

and rust =
  | Marker_only
  | Own  (* the generator declares a Rust type *)
  | User of string  (* the user's Rust type *)

(* How OCaml code writes a type with its parameters: behind them; or as the types that a first-class module fixes of its module type;
   or anywhere in the types of an object's methods, which have a variable for the object's own type, too. *)
and form = Plain | Package of string * string list | Object of var * (string * ty) list

(* A type that is not an abbreviation: of a declaration, or of what stands without a name. *)
and decl = {
  ocaml : string;  (* its path, as OCaml code names it *)
  form : form;
  qualified : string;  (* as build scripts name it: orders.size; empty if no bound module declares it *)
  place : string list;  (* the Rust module that declares it *)
  mutable name : string;  (* in Rust *)
  params : var list;
  has_constraints : bool;  (* on its parameters *)
  is_private : bool;
  never_float : bool;  (* no value of it is a float's block, even if `kind` does not show that *)
  is_any : bool;  (* some of its values may be floats, and others not *)
  is_of_function : bool;  (* it has no name, and stands in the type of a function *)
  mutable comment : string;
  doc : string option;
  mutable kind : kind;
  mutable reason : string option;  (* why it has no conversions *)
  mutable rust : rust;
  mutable boxed : string option;  (* the user's Rust type that implements the type: its values are OCamlBoxes of it *)
  (* Found by analysis.ml: *)
  mutable used : var list;  (* the parameters that the Rust type has *)
  mutable has_markers : bool;  (* these parameters are markers, and the Rust type has roots of their values *)
  mutable has_root : bool;  (* the Rust type contains a root *)
  mutable circle : decl list;  (* types that contain this type, and that it contains, without a pointer *)
  mutable derives : string list;  (* the traits that the Rust type derives *)
}

type value = {
  value : string;  (* its name, in OCaml *)
  value_qualified : string;
  value_name : string;  (* in Rust *)
  value_path : string;  (* as OCaml code names it; of no value: `X.c.m`, `new X.c`, `(X.c :> X.d)` *)
  value_code : string;  (* OCaml's expression for it *)
  is_method : bool;  (* the first argument is the object *)
  is_made_name : bool;  (* its name in Rust is made of those of a class and a method *)
  arguments : argument list;  (* empty if the value is not a function *)
  result : ty;
  is_unsafe : bool;
  value_comment : string;
  value_doc : string option;
}

type exception_ = {
  exception_name : string;  (* in Rust *)
  exception_qualified : string;
  exception_path : string;
  exception_parts : parts;
  exception_comment : string;
  exception_doc : string option;
  mutable exception_derives : string list;
}

(* For a function whose declaration in OCaml keeps all its values out of the heap: which parameters OCaml passes as bare
   numbers, and whether the result is one. *)
type plain = { bare : bool list; bare_answer : bool }

(* A function that Rust provides. *)
type external_ = {
  external_ : string;  (* in Rust *)
  ocaml_name : string;
  symbol : string;
  bytecode_symbol : string option;
  parameters : argument list;
  answer : ty;
  plain : plain option;
  external_comment : string;
  external_doc : string option;
}

(* `type 'a t = 'a list`: Rust has a name for the marker. *)
type abbreviation = { alias : string; alias_path : string; alias_params : var list; means : ty; alias_comment : string }

(* A type that is declared elsewhere, or under another name. *)
type reexport = { declared : decl; reexport : string;  (* its Rust name here *) reexport_path : string; reexport_comment : string }

(* `module A = B`: another name of a module, which is another name in Rust if Rust has the module. *)
type again = {
  again : string;  (* in Rust *)
  of_module : string;
  again_comment : string;
  otherwise : string;  (* why the name is left out, if Rust does not have the module *)
  mutable found_at : string list option;
}

(* An item that Rust does not have, and the reason; and Rust declarations that stand for it in rustc's messages, if it has a
   name. *)
type left_out = { what : string; why : string; missed : string list }

type item =
  | Type of decl
  | Abbreviation of abbreviation
  | Reexport of reexport
  | Value of value
  | Exception of exception_
  | Left_out of left_out
  | Remark of string
  | Again of again
  | Module of module_

and module_ = {
  ocaml_module : string;
  module_qualified : string;
  rust_name : string;
  rust_path : string list;  (* with the name *)
  module_comment : string;
  items : item list;
  externals : external_ list;
}

(* Whether a type is a polymorphic variant without a name. *)
let is_without_name d = d.ocaml.[0] = '['

let about l = Printf.sprintf "%s\nis left out: %s" l.what l.why

let parts_types = function Positional l -> l | Labelled l -> List.map (fun f -> f.ty) l

let kind_types = function
  | Opaque -> []
  | Record (fields, _) -> List.map (fun f -> f.ty) fields
  | Unboxed (_, parts) -> parts_types parts
  | Variant l | Row l -> List.concat_map (fun c -> parts_types c.parts) l

(* What build scripts call a part of a type or of a constructor. *)
let inside place name = place ^ "." ^ Compat.uncapitalize name

(* The parts, each with the name that build scripts give it: orders.order.price, orders.out_of_stock.0. *)
let named_parts place = function
  | Positional l -> List.mapi (fun i t -> (inside place (string_of_int i), t)) l
  | Labelled l -> List.map (fun f -> (inside place f.label, f.ty)) l

(* Those of a type: orders.size.custom.grams. *)
let named_kind place = function
  | Opaque -> []
  | Record (l, _) -> named_parts place (Labelled l)
  | Unboxed (None, parts) -> named_parts place parts
  | Unboxed (Some c, parts) -> named_parts (inside place c) parts
  | Variant l | Row l -> List.concat_map (fun c -> named_parts (inside place c.constructor) c.parts) l

let constructor_names = function
  | Opaque | Record _ | Unboxed (None, _) -> []
  | Unboxed (Some c, _) -> [ c ]
  | Variant l | Row l -> List.map (fun c -> c.constructor) l

(* The types that stand directly in a type. *)
let children = function
  | Var _ -> []
  | Builtin (_, l) | Named (_, l) -> l
  | Tuple l -> List.map snd l
  | Arrow (arguments, result) -> List.map (fun a -> a.arg) arguments @ [ result ]

let has_labels arguments = List.exists (fun a -> a.arg_label <> Asttypes.Nolabel) arguments

let is_labelled = function
  | Arrow (arguments, _) -> has_labels arguments
  | Var _ | Builtin _ | Named _ | Tuple _ -> false

let rec vars ty = match ty with
  | Var v -> [ v ]
  | _ -> List.concat_map vars (children ty)

let mem v l = List.exists (fun w -> w.id = v.id) l

let unique l = List.rev (List.fold_left (fun seen v -> if mem v seen then seen else v :: seen) [] l)

(* A constraint may make two parameters equal. *)
let are_distinct params = List.compare_lengths (unique params) params = 0

(* Replaces variables. *)
let rec substitute by ty = match ty with
  | Var v -> (match List.find_opt (fun (w, _) -> w.id = v.id) by with Some (_, t) -> t | None -> ty)
  | Builtin (b, l) -> Builtin (b, List.map (substitute by) l)
  | Named (d, l) -> Named (d, List.map (substitute by) l)
  | Tuple l -> Tuple (List.map (fun (label, t) -> (label, substitute by t)) l)
  | Arrow (l, r) -> Arrow (List.map (fun a -> { a with arg = substitute by a.arg }) l, substitute by r)
