(* Prints the OCaml module that registers what Rust calls. It restates all that the generator understood, so that OCaml's compiler
   rejects a mistake. *)
open Model

let out b fmt = Printf.bprintf b fmt

let names vars = List.mapi (fun i v -> (v.id, Printf.sprintf "'a%d" i)) vars

let builtin = function
  | Int -> "int" | Char -> "char" | String -> "string" | Bytes -> "bytes" | Float -> "float" | Bool -> "bool"
  | Unit -> "unit" | Exn -> "exn" | Int32 -> "int32" | Int64 -> "int64" | Nativeint -> "nativeint" | List -> "list"
  | Array -> "array" | Option -> "option" | Result -> "Stdlib.result" | Seq -> "Stdlib.Seq.t" | Uchar -> "Stdlib.Uchar.t"
  | Ref -> "Stdlib.ref" | Lazy -> "Stdlib.Lazy.t" | Hashtbl -> "Stdlib.Hashtbl.t"
  | Map -> "Stdlib.Map.Make" | Set -> "Stdlib.Set.Make"
  | Bigarray name -> Printf.sprintf "Stdlib.Bigarray.%s.t" name
  | Of_bigarray name -> "Stdlib.Bigarray." ^ name

(* How many object types have been printed: names for the types that they refer to by themselves. *)
let selves = ref 0

let rec ty names t =
  let go = ty names in
  let applied name = function
    | [] -> name
    | l -> Printf.sprintf "(%s) %s" (String.concat ", " (List.map go l)) name in
  match t with
  | Var v -> List.assoc v.id names
  | Builtin ((Map | Set) as b, key :: l) ->
    applied (Printf.sprintf "%s(Stdlib.%s).t" (builtin b) (Compat.capitalize (go key))) l
  | Builtin (b, l) -> applied (builtin b) l
  | Named ({ form = Package (module_type, fixed); _ }, l) ->
    let constraints = List.mapi (fun i (name, t) -> Printf.sprintf " %s type %s = %s" (if i = 0 then "with" else "and") name (go t))
      (List.combine fixed l) in
    Printf.sprintf "(module %s%s)" module_type (String.concat "" constraints)
  | Named ({ form = Object (self, methods); params; _ }, l) ->
    let by = List.combine params l in
    incr selves;
    let name = Printf.sprintf "'self%d" !selves in
    let method_ (method_, t) = Printf.sprintf "%s : %s" (Names.ocaml method_) (ty ((self.id, name) :: names) (substitute by t)) in
    let object_ = Printf.sprintf "< %s >" (String.concat "; " (List.map method_ methods)) in
    if List.exists (fun (_, t) -> mem self (vars t)) methods then Printf.sprintf "(%s as %s)" object_ name else object_
  | Named (d, l) when is_without_name d ->
    let by = List.combine d.params l in
    let parts = function
      | Positional l -> Positional (List.map (substitute by) l)
      | Labelled l -> Labelled l in
    let constructors = match d.kind with
      | Row l -> List.map (fun c -> { c with parts = parts c.parts }) l
      | Opaque | Record _ | Unboxed _ | Variant _ -> assert false in
    "[ " ^ row names constructors ^ " ]"
  | Named (d, l) -> applied d.ocaml l
  | Tuple l ->
    let part (label, t) = (match label with Some l -> l ^ ":" | None -> "") ^ go t in
    "(" ^ String.concat " * " (List.map part l) ^ ")"
  | Arrow (l, r) -> "(" ^ arrows names l r ^ ")"

and arrows names arguments result =
  let argument a = match a.arg_label, a.arg with
    | Asttypes.Nolabel, t -> ty names t
    | Labelled l, t -> Names.ocaml l ^ ":" ^ ty names t
    | Optional l, Builtin (Option, [ t ]) -> "?" ^ Names.ocaml l ^ ":" ^ ty names t
    | Optional _, _ -> assert false in
  String.concat " -> " (List.map argument arguments @ [ ty names result ])

and fields names l =
  let field f =
    Printf.sprintf "%s%s : %s%s" (if f.is_mutable then "mutable " else "") (Names.ocaml f.label) (ty names f.ty)
      (if f.is_atomic then " [@atomic]" else "") in
  "{ " ^ String.concat "; " (List.map field l) ^ " }"

and parts names = function
  | Positional [] -> ""
  | Positional l -> " of " ^ String.concat " * " (List.map (ty names) l)
  | Labelled l -> " of " ^ fields names l

and row names l = String.concat " | " (List.map (fun c -> "`" ^ c.constructor ^ parts names c.parts) l)

let constructors names l = String.concat " | " (List.map (fun c -> Names.constructor c.constructor ^ parts names c.parts) l)

(* Calls a method of its first argument. *)
let method_ name arguments =
  let argument i a = match a.arg_label with
    | Asttypes.Nolabel -> Printf.sprintf "a%d" i
    | Labelled l -> Printf.sprintf "~%s:a%d" (Names.ocaml l) i
    | Optional l -> Printf.sprintf "?%s:a%d" (Names.ocaml l) i in
  let arguments = String.concat "" (List.mapi (fun i a -> " " ^ argument i a) arguments) in
  Printf.sprintf "fun o%s -> o#%s%s" arguments (Names.ocaml name) arguments

let parameters vars names = match vars with
  | [] -> ""
  | l -> Printf.sprintf "(%s) " (String.concat ", " (List.map (fun v -> List.assoc v.id names) l))

(* `'a. t`, so that a value of a less general type is an error. *)
let for_all names t = match names with
  | [] -> t
  | l -> Printf.sprintf "%s. %s" (String.concat " " (List.map snd l)) t

(* Declares the same type again, constructor by constructor; if its constructors are not known, with the same number of parameters. *)
let type_ b number d =
  let names = names d.params in
  let here = Printf.sprintf "type %stype_%d = %s" (parameters d.params names) number (ty names (Named (d, List.map (fun v -> Var v) d.params))) in
  let is_private = if d.is_private then "private " else "" in
  match d.kind with
  | _ when d.has_constraints -> ()
  | Opaque -> out b "%s\n" here
  | Row _ when is_without_name d -> ()
  (* If it were declared again here, OCaml would make such a record flat. *)
  | Record (l, `Regular_of_floats) ->
    let labels = String.concat "; " (List.map (fun f -> Names.ocaml f.label) l) in
    (* A pattern must have all fields (warning 9), but none may be atomic. *)
    let record, field = if List.exists (fun f -> f.is_atomic) l then ("r", "r.") else ("{ " ^ labels ^ " }", "") in
    let checks = List.map (fun f -> Printf.sprintf "(%s%s : %s)" field (Names.ocaml f.label) (ty names f.ty)) l in
    out b "%s\nlet _ = fun (%s : %stype_%d) -> (%s)\n" here record (parameters d.params names) number (String.concat ", " checks)
  | Record (l, (`Regular | `Flat)) -> out b "%s = %s%s\n" here is_private (fields names l)
  | Unboxed (None, Labelled l) -> out b "%s = %s%s [@@unboxed]\n" here is_private (fields names l)
  | Unboxed (None, Positional l) -> List.iter (fun t -> out b "%s\nlet _ = fun x -> (x : type_%d :> %s)\n" here number (ty names t)) l
  | Unboxed (Some c, p) -> out b "%s = %s%s%s [@@unboxed]\n" here is_private (Names.constructor c) (parts names p)
  | Variant l -> out b "%s = %s%s\n" here is_private (constructors names l)
  | Row l ->
    (* Abstract types instead of variables: OCaml 4.13 does not see that a recursive row of any type equals itself. *)
    let names = List.mapi (fun i v -> (v.id, Printf.sprintf "a%d" i)) d.params in
    let row = row names l in
    (* Once OCaml has replaced the name by the row, a parameter that the row does not use may be any type. *)
    let used = List.concat_map vars (kind_types d.kind) in
    let names = List.map (fun (id, name) -> (id, if List.exists (fun v -> v.id = id) used then name else "_")) names in
    let abstract = List.filter (fun name -> name <> "_") (List.map snd names) in
    let abstract = if abstract = [] then "" else Printf.sprintf " (type %s)" (String.concat " " abstract) in
    out b "let row_%d%s : %s%s -> [ %s ] = fun same -> same\n" number abstract (parameters d.params names) d.ocaml row

let value b ~digest ~code path arguments result =
  let names = names (unique (List.concat_map vars (List.map (fun a -> a.arg) arguments @ [ result ]))) in
  let ty = arrows names arguments result in
  (* Says that the expression has the type. If a polymorphic type contains abbreviations that do not use their parameters, OCaml
     rejects a name with it (`less general`), except in a signature. Other expressions need the type to be known inside. *)
  if names <> [] && code = path then
    out b "  let module Ocaml_boxroot_value : sig val it : %s end = struct let it = %s end in\n  let value = Ocaml_boxroot_value.it in\n" ty code
  else
    out b "  let value : %s = %s in\n" (for_all names ty) code;
  match digest with
  | Some digest -> out b "  Stdlib.Callback.register \"%s#%s\" value;\n" (Names.registered path) digest
  | None -> out b "  Stdlib.ignore value;\n"

let exception_ b ~digest e =
  let path = e.exception_path in
  let name = List.hd (List.rev (String.split_on_char '.' path)) in
  out b "  let module _ : sig exception %s%s end = struct exception %s = %s end in\n" name (parts [] e.exception_parts) name path;
  out b "  Stdlib.Callback.register \"%s#%s\" [%%extension_constructor %s];\n" path digest path

(* In functions of some items each: for one function of thousands, ocamlopt needs more stack than there may be, up to OCaml 4.13. *)
let rec in_functions b number = function
  | [] -> ()
  | items ->
    out b "let part_%d () =\n" number;
    List.iteri (fun i print -> if i < 200 then print ()) items;
    out b "  ()\nlet () = part_%d ()\n\n" number;
    in_functions b (number + 1) (List.filteri (fun i _ -> i >= 200) items)

let rec items m = List.concat_map (function Module m -> items m | i -> [ i ]) m.items

(* `abis`: symbols that Rust defines if it was compiled with the same digest. `stated`: functions that Rust provides and that the
   interface has, with their types as the generator understood them. *)
let print b ~header ~abis ~digest ~types ~stated modules =
  out b "(* %s *)\n[@@@ocaml.warning \"-a@9\"]\n[@@@ocaml.alert \"-all\"]\n\n" header;
  List.iteri (fun i symbol -> out b "external abi_%d : unit -> unit = \"%s\"\nlet () = abi_%d ()\n" i symbol i) abis;
  out b "\n";
  (* In a module, because a constructor may be called `()`. *)
  out b "module _ = struct\n";
  List.iteri (type_ b) types;
  out b "end\n\n";
  let stated = List.map (fun (path, e) () -> value b ~digest:None ~code:path path e.parameters e.answer) stated in
  let registered = List.filter_map (function
    | Value v -> Some (fun () -> value b ~digest:(Some digest) ~code:v.value_code v.value_path v.arguments v.result)
    | Exception e -> Some (fun () -> exception_ b ~digest e)
    | Type _ | Abbreviation _ | Reexport _ | Left_out _ | Remark _ | Again _ | Module _ -> None) (List.concat_map items modules) in
  in_functions b 1 (stated @ registered);
  out b "(* All is registered when this module is initialised. A call makes the linker keep the module. *)\n";
  out b "let register () = ()\n"
