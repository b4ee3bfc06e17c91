(* Reads types from the compiler's typed tree. *)
open Types
open Model

(* The Rust module of types that no bound module declares. *)
let other_types = "ocaml_types"

exception Unsupported of string

let unsupported fmt = Printf.ksprintf (fun s -> raise (Unsupported s)) fmt

(* The macros have a limit for the parts of a record or constructor. *)
let possible parts = if List.compare_length_with parts 256 > 0 then unsupported "more than 256 fields or arguments" else parts

(* Where a public type of a bound module is declared. *)
type home = { home_path : Path.t; home_place : string list; rust : string; qualified : string; home_comment : string; home_doc : string option }

(* Where a type stands: rows without a name get one from there. *)
type around = {
  around_place : string list;
  around_rust : string;  (* what their Rust names begin with *)
  around_qualified : string;
  in_function : bool;
  is_instance : bool;  (* whether OCaml code may choose the constructors of rows that are not exact, and the methods of open
                          objects: those of the type of a value that OCaml provides *)
}

type t = {
  env : Env.t;
  homes : (string, home) Hashtbl.t;  (* by path, as `canonical` gives it *)
  places : (string, string list) Hashtbl.t;  (* the Rust modules of bound modules, by path *)
  decls : (string, decl) Hashtbl.t;  (* by path *)
  mutable found : decl list;  (* the newest first *)
  opaque : string list;
  users : (string * string) list;
  prefixes : string list;  (* which OCaml code leaves out: dune's Foo__ *)
  aliases : (string, string) Hashtbl.t;  (* what OCaml code calls modules that are parts of others: Foo.Bar for Foo__Bar *)
  abbreviations : (string, around) Hashtbl.t;  (* those of bound modules, by path; rows in their meanings stand there *)
  called : (string, string) Hashtbl.t;  (* modules that have files, by what OCaml code calls them *)
  mutable around : around option;
  mutable objects : (Path.t * type_declaration) list;  (* the object types of bound modules that are not private *)
  same_objects : (string, Path.t) Hashtbl.t;  (* of object types that are equal to one of these: that one, by path *)
  mutable selves : (int * ty) list;  (* the object types that are being read, each with what stands for it inside *)
  mutable fixed : (Path.t * type_expr) list;  (* types of a module that a function takes, and what its module type fixes them to *)
  mutable universal : int list;  (* the variables of the polymorphic method that is being read *)
  without_definition : (string, unit) Hashtbl.t;  (* types that are abstract even in their implementation; see cmt.ml *)
}

let create env ~opaque ~users ~prefixes =
  { env; homes = Hashtbl.create 50; places = Hashtbl.create 50; decls = Hashtbl.create 50; found = []; opaque; users; prefixes;
    aliases = Hashtbl.create 50; abbreviations = Hashtbl.create 50; called = Hashtbl.create 50; around = None;
    objects = []; same_objects = Hashtbl.create 10; selves = []; fixed = []; universal = [];
    without_definition = Hashtbl.create 50 }

(* A module that has a file, as OCaml code names it. *)
let ocaml_module r name =
  let without prefix = String.sub name (String.length prefix) (String.length name - String.length prefix) in
  let called = match Hashtbl.find_opt r.aliases name with
    | Some alias -> alias
    | None ->
      let longest a b = compare (String.length b) (String.length a) in
      let prefixes = List.filter (fun prefix -> prefix <> name && Names.starts_with prefix name) ("Stdlib__" :: r.prefixes) in
      match List.sort longest prefixes with
      | "Stdlib__" :: _ -> "Stdlib." ^ without "Stdlib__"
      | prefix :: _ -> without prefix
      | [] -> name in
  (match Hashtbl.find_opt r.called called with
   | Some other when other <> name ->
     failwith (Printf.sprintf "the bindings name both %s and %s, and OCaml code would call both %s" other name called)
   | _ -> Hashtbl.replace r.called called name);
  called

(* A path, as OCaml code names it. *)
let rec ocaml r path = match path with
  | Path.Pident id -> ocaml_module r (Ident.name id)
  | Pdot (path, name) -> ocaml r path ^ "." ^ Names.ocaml name
  | Papply (path, argument) -> Printf.sprintf "%s(%s)" (ocaml r path) (ocaml r argument)
  | _ -> Path.name path
[@@ocaml.warning "-4-11"]

(* The symbol of native code. *)
let symbol (p : Primitive.description) = if p.prim_native_name <> "" then p.prim_native_name else p.prim_name

let normalize r path = try Env.normalize_type_path None r.env path with _ -> path

let parameters_of_bigarrays = [
  "c_layout"; "fortran_layout"; "float16_elt"; "float32_elt"; "float64_elt"; "int8_signed_elt";
  "int8_unsigned_elt"; "int16_signed_elt"; "int16_unsigned_elt"; "int32_elt"; "int64_elt"; "int_elt";
  "nativeint_elt"; "complex32_elt"; "complex64_elt" ]

let builtin path =
  let is_bigarray m = Ident.persistent m && Ident.name m = "Stdlib__Bigarray" in
  let predefined = [
    Predef.path_int, Int; Predef.path_char, Char; Predef.path_string, String; Predef.path_bytes, Bytes;
    Predef.path_float, Float; Predef.path_bool, Bool; Predef.path_unit, Unit; Predef.path_exn, Exn;
    Predef.path_int32, Int32; Predef.path_int64, Int64; Predef.path_nativeint, Nativeint; Predef.path_list, List;
    Predef.path_array, Array; Predef.path_option, Option; Predef.path_lazy_t, Lazy ] in
  let of_library = [
    ("Stdlib", "result"), Result; ("Stdlib", "ref"), Ref; ("Stdlib__Seq", "t"), Seq; ("Stdlib__Uchar", "t"), Uchar;
    ("Stdlib__Hashtbl", "t"), Hashtbl ] in
  match List.find_opt (fun (p, _) -> Path.same p path) predefined with
  | Some (_, b) -> Some b
  | None -> match path with
    (* A parameter of a functor may also have these names. *)
    | Pdot (Pident m, name) when Ident.persistent m && List.mem_assoc (Ident.name m, name) of_library ->
      List.assoc_opt (Ident.name m, name) of_library
    | Pdot (Pdot (Pident m, (("Array1" | "Array2" | "Array3" | "Genarray") as name)), "t")
      when is_bigarray m -> Some (Bigarray name)
    | Pdot (Pident m, name) when is_bigarray m && List.mem name parameters_of_bigarrays ->
      Some (Of_bigarray name)
    | _ -> None
[@@ocaml.warning "-4"]

(* `Map.Make (String).t` and the like, with the type of the keys. OCaml has a type for each module of keys, and here each type of
   keys has one such module, of the standard library. So different types stay different. *)
let collection path =
  let keys = [
    "Stdlib__String", String; "Stdlib__Int", Int; "Stdlib__Char", Char; "Stdlib__Bytes", Bytes; "Stdlib__Bool", Bool;
    "Stdlib__Float", Float; "Stdlib__Int32", Int32; "Stdlib__Int64", Int64; "Stdlib__Nativeint", Nativeint ] in
  match path with
  | Path.Pdot (Papply (Pdot (Pident m, "Make"), Pident key), "t") when Ident.persistent m && Ident.persistent key ->
    (match Ident.name m, List.assoc_opt (Ident.name key) keys with
     | "Stdlib__Map", Some key -> Some (Map, Builtin (key, []))
     | "Stdlib__Set", Some key -> Some (Set, Builtin (key, []))
     | _ -> None)
  | _ -> None
[@@ocaml.warning "-4"]

(* Records of the standard library that C code reads without checks. *)
let trusted_by_c = [ "Stdlib__Lexing.lexbuf"; "Stdlib__Lexing.lex_tables"; "Stdlib__Parsing.parse_tables" ]

(* The path of the module type that this path finally names. *)
let rec module_type r path = match (Env.find_modtype path r.env).mtd_type with
  | Some (Mty_ident other) -> module_type r other
  | _ -> (match path with
    | Path.Pdot (around, name) ->
      let real = Env.normalize_module_path None r.env around in
      if Path.same real around then path else module_type r (Path.Pdot (real, name))
    | _ -> path)
  | exception Not_found -> unsupported "the interface that declares %s was not found" (Path.name path)
[@@ocaml.warning "-4"]

let has_definition d = match d.type_kind with
  | Type_record _ | Type_variant _ | Type_open -> true
  | _ -> false

let find_type r path =
  try Env.find_type path r.env
  with Not_found -> unsupported "the interface that declares %s was not found" (Path.name path)

let is_var t = match Compat.get_desc t with Tvar _ -> true | _ -> false

let is_row t = match Compat.get_desc t with Tvariant _ -> true | _ -> false

(* Whether a test holds for the argument of each constructor. *)
let constructors_hold test row = List.for_all (fun (_, argument) -> match argument with
  | `One (Some t) -> test t
  | `One None | `None -> true
  | `Several -> false) (Compat.row_all_fields row)

(* Whether an abbreviation stands in its own meaning: OCaml allows that inside a row. *)
let is_recursive r path t =
  let types = Hashtbl.create 10 and seen = Hashtbl.create 10 and found = ref false in
  let rec go t =
    if not (Hashtbl.mem seen (Compat.get_id t)) then begin
      Hashtbl.add seen (Compat.get_id t) ();
      (match Compat.get_desc t with
       | Tconstr (other, _, _) ->
         let other = normalize r other in
         if Path.same other path then found := true
         else if not (Hashtbl.mem types (Path.name other)) then begin
           Hashtbl.add types (Path.name other) ();
           match Env.find_type other r.env with
           | d -> if not (has_definition d) then Option.iter go d.type_manifest
           | exception Not_found -> ()
         end
       | _ -> ());
      Btype.iter_type_expr go t
    end in
  go t;
  !found

(* Whether markers have what stands in a type. With -rectypes, types have circles. *)
let is_expressible r path t =
  let seen = Hashtbl.create 10 and has_row = ref false in
  let rec go t =
    Hashtbl.mem seen (Compat.get_id t) || begin
      Hashtbl.add seen (Compat.get_id t) ();
      match Compat.get_desc t with
      | Tvar _ -> true
      | Tarrow (_, a, b, _) -> go a && go b
      | Ttuple parts -> List.for_all (fun (label, t) -> label = None && go t) (Compat.tuple parts)
      | Tconstr (path, arguments, _) ->
        List.for_all go arguments && (match Env.find_type path r.env with
          | d -> d.type_manifest = None || has_definition d || List.for_all is_var d.type_params
          | exception Not_found -> false)
      | Tpoly (t, []) -> go t
      | Tvariant row ->
        has_row := true;
        Compat.row_is_exact row && constructors_hold go row
      | desc -> (match Compat.package desc with
        | Some (path, constraints) ->
          (match module_type r path with _ -> List.for_all (fun (_, t) -> go t) constraints | exception Unsupported _ -> false)
        | None -> false)
    end in
  go t && not (!has_row && (is_row t || is_recursive r path t))

(* The public methods of an object type, in the order of their names, and what it says of other methods. *)
let methods t =
  let fields, others = Ctype.flatten_fields (Ctype.object_fields t) in
  let is_method (name, kind, _) = Compat.is_public kind && name <> Btype.dummy_method in
  (List.filter_map (fun (name, kind, t) -> if is_method (name, kind, t) then Some (name, t) else None) fields, others)

(* The object type that a declaration gives a name, if OCaml code may call its methods. A private type has none, unless it hides
   methods: `private < m : int; .. >`. *)
let object_of d = match d.type_manifest with
  | Some t when (match Compat.get_desc t with Tobject _ -> true | _ -> false) ->
    let is_closed = match Compat.get_desc (snd (methods t)) with Tnil -> true | _ -> false in
    if d.type_private = Asttypes.Private && is_closed then None else Some t
  | _ -> None

(* Whether an object type of a bound module is a type of its own: OCaml does not take it for an earlier one. *)
let add_object r path d =
  let names t = List.map fst (fst (methods t)) in
  let is_equal t other = match object_of other with
    | Some u ->
      names t = names u && List.compare_lengths d.type_params other.type_params = 0
      && Ctype.is_equal r.env true (t :: d.type_params) (u :: other.type_params)
    | None -> false in
  match object_of d with
  | None -> true
  | Some _ when d.type_private = Asttypes.Private -> true
  | Some t -> match List.find_opt (fun (_, other) -> is_equal t other) r.objects with
    | Some (other, _) -> Hashtbl.replace r.same_objects (Path.name path) other; false
    | None -> r.objects <- (path, d) :: r.objects; true

(* The object types of bound modules that have only some methods of this one, and that OCaml takes for a more general type. Neither
   has parameters. *)
let more_general r d = match object_of d with
  | Some t when d.type_params = [] && d.type_private = Asttypes.Public ->
    let names t = List.map fst (fst (methods t)) in
    let is_general (_, other) = match object_of other with
      | Some u when other.type_params = [] && names u <> [] && names u <> names t && List.for_all (fun m -> List.mem m (names t)) (names u) ->
        (match Ctype.subtype r.env (Ctype.instance t) (Ctype.instance u) () with () -> true | exception _ -> false)
      | _ -> false in
    List.rev_map fst (List.filter is_general r.objects)
  | _ -> []

let same_object r path = Option.value (Hashtbl.find_opt r.same_objects (Path.name path)) ~default:path

(* The type that a declaration gives a new name, if it does not declare a type of its own. A name of what has no marker is a type of its
   own: OCaml types may have several markers, as long as no two types have one. *)
let expansion r path d = match d.type_manifest with
  | Some t when d.type_private = Asttypes.Public && (has_definition d || is_expressible r path t) -> Some t
  | _ -> None

(* The path of the type that this path finally names. None for abbreviations of other types, and for types that Rust knows. *)
let rec canonical r path =
  let path = normalize r path in
  if builtin path <> None || collection path <> None then None
  else
    let d = find_type r path in
    match expansion r path d with
    | None -> Some (same_object r path)
    | Some t -> match Compat.get_desc t with
      | Tconstr (other, _, _) when has_definition d -> canonical r other
      | _ -> None

(* In a declaration of a signature, the signature's items stand under their bare names. This replaces the bare names by paths. An
   item that a later item of the same name hides has no path. *)
let global path signature subst =
  let add (subst, seen) item =
    let add kind id by = if List.mem (kind, Ident.name id) seen then (subst, seen)
      else (by id (Path.Pdot (path, Ident.name id)) subst, (kind, Ident.name id) :: seen) in
    match item with
    | Sig_type (id, _, _, Exported) -> add `Type id Subst.add_type
    | Sig_module (id, _, _, _, Exported) -> add `Module id Subst.add_module
    | Sig_modtype (id, _, Exported) -> add `Module_type id Compat.add_module_type
    | _ -> (subst, seen) in
  fst (List.fold_left add (subst, []) (List.rev signature))
[@@ocaml.warning "-4"]

let hint = function Some name when name.[0] <> '_' -> name | _ -> "a"

let var t = match Compat.get_desc t with
  | Tvar name -> { id = Compat.get_id t; hint = hint name }
  | _ -> unsupported "constrained type parameters"

let is_instance r = match r.around with Some a -> a.is_instance | None -> false

let add_abbreviation r path around =
  let key = Path.name (normalize r path) in
  if not (Hashtbl.mem r.abbreviations key) then Hashtbl.add r.abbreviations key around

(* Evaluates with another place. *)
let inside r around f =
  let before = r.around in
  r.around <- around;
  Fun.protect f ~finally:(fun () -> r.around <- before)

(* A part of what is around. *)
let part name around =
  { around with around_rust = around.around_rust ^ Names.camel name; around_qualified = Model.inside around.around_qualified name }

(* With -rectypes, types have circles. *)
let rec ty r depth t =
  if depth > 1000 then unsupported "a type without end";
  let ty = ty r (depth + 1) in
  match Compat.get_desc t with
  | Tvar _ -> Var (var t)
  | Tarrow _ ->
    let arguments, result = arrows_inside r depth max_int t in
    Arrow (arguments, result)
  | Ttuple parts ->
    let parts = Compat.tuple parts in
    if List.exists (fun (label, _) -> label <> None) parts then unsupported "a tuple with labels";
    Tuple (List.map (fun (label, t) -> (label, ty t)) parts)
  | Tconstr (path, [], _) when List.exists (fun (fixed, _) -> Path.same fixed path) r.fixed ->
    ty (snd (List.find (fun (fixed, _) -> Path.same fixed path) r.fixed))
  | Tconstr (path, arguments, _) -> named r depth (normalize r path) (List.map ty arguments)
  | Tpoly (t, []) -> ty t
  | Tunivar name when List.mem (Compat.get_id t) r.universal -> Var { id = Compat.get_id t; hint = hint name }
  | Tpoly _ | Tunivar _ -> unsupported "a polymorphic field"
  | Tvariant row -> row_without_name r depth row
  | Tobject (_, { contents = name }) -> object_ r depth t name
  | Tpackage _ as desc ->
    let path, constraints = Option.get (Compat.package desc) in
    let decl = package r (module_type r path) (List.map fst constraints) in
    Named (decl, List.map (fun (_, t) -> ty t) constraints)
  | _ -> unsupported "an unknown kind of type"

(* At most `count` arguments of a value. An abbreviation of a function type stays the result, unless the function has labels. *)
and arrows r count t =
  let rec has_labels t = match Compat.get_desc t with
    | Tarrow (label, _, b, _) -> label <> Asttypes.Nolabel || has_labels b
    | _ -> false in
  let rec go depth i t =
    let inside name f = inside r (Option.map (part name) r.around) f in
    let argument arg_label a b =
      let name = match arg_label with Asttypes.Nolabel -> "arg" ^ string_of_int i | Labelled s | Optional s -> s in
      let arg = inside name (fun () -> ty r (depth + 1) a) in
      let rest, result = go (depth + 1) (i + 1) b in
      ({ arg_label; arg } :: rest, result) in
    match Compat.get_desc t with
    | Tarrow (label, a, b, _) when i < count -> argument label a b
    | Tconstr _ when i < count && has_labels (Ctype.expand_head r.env t) -> go (depth + 1) i (Ctype.expand_head r.env t)
    | desc -> match Compat.dependent desc with
      | Some (label, module_, package, result) when i < count ->
        fix r module_ package;
        argument label (Btype.newgenty package) result
      | _ -> ([], inside "result" (fun () -> ty r (depth + 1) t)) in
  let before = r.fixed in
  Fun.protect (fun () -> go 0 0 t) ~finally:(fun () -> r.fixed <- before)

(* What a function takes is a module: types that its module type fixes are what it fixes them to. *)
and fix r module_ package =
  let constraints = match Compat.package package with Some (_, l) -> l | None -> [] in
  let path names = List.fold_left (fun path name -> Path.Pdot (path, name)) module_ names in
  r.fixed <- List.map (fun (names, t) -> (path names, t)) constraints @ r.fixed

and arrows_inside r depth count t = match Compat.get_desc t with
  | Tarrow (arg_label, a, b, _) when count > 0 ->
    let arg = ty r (depth + 1) a in
    let rest, result = arrows_inside r (depth + 1) (count - 1) b in
    ({ arg_label; arg } :: rest, result)
  | _ -> ([], ty r (depth + 1) t)

(* A row of a type that has a name is that type, if OCaml code may choose it; other rows are types of their own. *)
and row_without_name r depth row =
  let fail () = unsupported "a polymorphic variant without a name" in
  match r.around, Compat.row_name row with
  | None, _ -> fail ()
  | Some { is_instance = true; _ }, Some (path, arguments) when not (Compat.row_is_exact row) ->
    named r depth (normalize r path) (List.map (ty r depth) arguments)
  | Some around, _ ->
    if not (around.is_instance || Compat.row_is_exact row) then fail ();
    let constructor (label, argument) =
      let hash = Btype.hash_variant label in
      let part t = inside r (Some (part label around)) (fun () -> ty r (depth + 1) t) in
      match argument with
      | `One None -> Some { constructor = label; parts = Positional []; tag = Hash hash }
      | `One (Some t) -> Some { constructor = label; parts = Positional [ part t ]; tag = Tagged hash }
      | `Several -> fail ()
      | `None -> None in
    let l = List.sort (fun a b -> compare a.constructor b.constructor) (List.filter_map constructor (Compat.row_all_fields row)) in
    if l = [] then fail ();
    let params = unique (List.concat_map (fun c -> List.concat_map vars (parts_types c.parts)) l) in
    let ocaml = "[ " ^ Glue.row (Glue.names params) l ^ " ]" in
    let key = String.concat "." (around.around_place @ [ (if around.in_function then "fun " else "") ^ ocaml ]) in
    let decl = match Hashtbl.find_opt r.decls key with
      | Some decl -> decl
      | None ->
        let decl = {
          ocaml; form = Plain; qualified = around.around_qualified; place = around.around_place; name = around.around_rust; params;
          has_constraints = false; is_private = false; never_float = true; is_any = false; is_of_function = around.in_function; comment = ocaml; doc = None; kind = Row l;
          reason = None; rust = Own; boxed = None; used = []; has_markers = false; has_root = false; circle = []; derives = [] } in
        Hashtbl.add r.decls key decl;
        r.found <- decl :: r.found;
        decl in
    Named (decl, List.map (fun v -> Var v) params)

(* The type of first-class modules of a module type. What it fixes, such as [ [ "t" ] ], are the parameters. *)
and package r path fixed =
  let fixed = List.map (String.concat ".") fixed in
  let key = Printf.sprintf "module type %s with %s" (Path.name path) (String.concat ", " fixed) in
  match Hashtbl.find_opt r.decls key with
  | Some decl -> decl
  | None ->
    let name = Path.last path ^ (if fixed = [] then "" else "_with_" ^ String.concat "_" (List.concat_map (String.split_on_char '.') fixed)) in
    let place, name = match path with
      | Pdot (around, _) when Hashtbl.mem r.places (Path.name around) -> (Hashtbl.find r.places (Path.name around), Names.camel name)
      | _ -> other_type r (Path.name path) ~name in
    let params = List.mapi (fun i name -> { id = -1 - i; hint = List.hd (List.rev (String.split_on_char '.' name)) }) fixed in
    let decl = nameless ~form:(Package (ocaml r path, fixed)) ~params ~qualified:"" ~place ~name in
    Hashtbl.add r.decls key decl;
    r.found <- decl :: r.found;
    decl

and nameless ~form ~params ~qualified ~place ~name =
  let decl = {
    ocaml = ""; form; qualified; place; name; params; has_constraints = false; is_private = false; never_float = true; is_any = false;
    is_of_function = false; comment = ""; doc = None; kind = Opaque; reason = None; rust = Marker_only; boxed = None; used = []; has_markers = false; has_root = false;
    circle = []; derives = [] } in
  (* The same text for the same type. *)
  Glue.selves := 0;
  let ocaml = Glue.ty (Glue.names params) (Named (decl, List.map (fun v -> Var v) params)) in
  { decl with ocaml; comment = ocaml }

(* An object type. With a name, it is the type of that name; without, OCaml code may choose the methods of an open one. *)
and object_ r depth t name =
  let id = Compat.get_id t in
  let all_methods, others = methods t in
  let is_closed = match Compat.get_desc others with Tnil -> true | _ -> false in
  let is_instance = is_closed || is_instance r && (match Compat.get_desc others with Tvar _ | Tunivar _ -> true | _ -> false) in
  let open_ () = unsupported "an open object type" in
  match List.assoc_opt id r.selves, name with
  | Some self, _ -> self
  | None, Some (path, rest :: arguments) when (match Compat.get_desc rest with Tnil | Tvar _ | Tunivar _ -> true | _ -> false) ->
    if is_instance then named r depth (normalize r path) (List.map (ty r (depth + 1)) arguments) else open_ ()
  | None, _ ->
    if not is_instance then open_ ();
    let is_same (_, d) = match object_of d with
      | Some u when d.type_params = [] ->
        let others = fst (methods u) in
        List.map fst others = List.map fst all_methods && Ctype.is_equal r.env true (List.map snd others) (List.map snd all_methods)
      | _ -> false in
    match List.find_opt is_same r.objects, r.around with
    | Some (path, _), _ -> named r depth path []
    | None, None -> unsupported "an object type without a name"
    | None, Some around ->
      let method_ (name, t) = match Compat.get_desc t with
        | Tpoly (_, _ :: _) -> unsupported "an object type without a name that has a polymorphic method"
        | _ -> (name, inside_part r name (fun () -> ty r (depth + 1) t)) in
      let self = { id; hint = "self" } in
      let all_methods = with_self r (id, Var self) (fun () -> List.map method_ all_methods) in
      let params = List.filter (fun v -> v.id <> id) (unique (List.concat_map (fun (_, t) -> vars t) all_methods)) in
      let decl = nameless ~form:(Object (self, all_methods)) ~params ~qualified:"" ~place:around.around_place ~name:around.around_rust in
      let decl = match Hashtbl.find_opt r.decls decl.ocaml with
        | Some decl -> decl
        | None ->
          Hashtbl.add r.decls decl.ocaml decl;
          r.found <- decl :: r.found;
          decl in
      Named (decl, List.map (fun v -> Var v) params)

and with_self : 'a. t -> int * ty -> (unit -> 'a) -> 'a = fun r self f ->
  let before = r.selves in
  r.selves <- self :: before;
  Fun.protect f ~finally:(fun () -> r.selves <- before)

(* The type of a method of an object type that has a name: the arguments, with the object, and the result. *)
and method_ r path d t =
  let self = Named (decl r path d, List.map (ty r 0) d.type_params) in
  let t, universal = match Compat.get_desc t with Tpoly (t, l) -> (t, List.map Compat.get_id l) | _ -> (t, []) in
  let id = Compat.get_id (Option.get (object_of d)) in
  r.universal <- universal;
  Fun.protect ~finally:(fun () -> r.universal <- []) @@ fun () ->
  with_self r (id, self) @@ fun () ->
  let arguments, result = arrows r max_int t in
  ({ arg_label = Nolabel; arg = self } :: arguments, result)

and named r depth path arguments =
  let path = same_object r path in
  match builtin path, collection path with
  | Some b, _ -> Builtin (b, arguments)
  | None, Some (b, key) -> Builtin (b, key :: arguments)
  | None, None ->
    let d = find_type r path in
    match expansion r path d with
    | Some t ->
      let by = List.combine (List.map var d.type_params) arguments in
      inside r (Some (around_abbreviation r path)) (fun () -> substitute by (ty r (depth + 1) t))
    | None -> Named (decl r path d, arguments)

and decl r path d =
  let key = Path.name path in
  match Hashtbl.find_opt r.decls key with
  | Some decl -> decl
  | None ->
    let home = Hashtbl.find_opt r.homes key in
    let params = List.map (fun t -> match Compat.get_desc t with
      | Tvar name -> { id = Compat.get_id t; hint = hint name }
      | _ -> { id = Compat.get_id t; hint = "a" }) d.type_params in
    let has_constraints = not (List.for_all is_var d.type_params && are_distinct params) in
    let place, name = match home with
      | Some h -> (h.home_place, h.rust)
      | None -> other_type r key ~name:(Path.last path) in
    let decl = {
      ocaml = ocaml r path; form = Plain; qualified = (match home with Some h -> h.qualified | None -> ""); place; name; params; has_constraints;
      is_private = d.type_private = Private; never_float = never_float d; is_any = is_any r path d; is_of_function = false;
      comment = (match home with Some h -> h.home_comment | None -> "type " ^ ocaml r path);
      doc = Option.bind home (fun h -> h.home_doc);
      kind = Opaque; reason = None; rust = Marker_only; boxed = None; used = []; has_markers = false; has_root = false; circle = []; derives = [] } in
    Hashtbl.add r.decls key decl;
    r.found <- decl :: r.found;
    (match home with
     | Some h when not (List.mem h.qualified r.opaque) ->
       (try
          if has_constraints then unsupported "constrained type parameters";
          let around = { around_place = place; around_rust = name; around_qualified = h.qualified; in_function = false;
            is_instance = false } in
          decl.kind <- inside r (Some around) (fun () -> kind r d ~params ~is_any:decl.is_any);
          if List.mem key trusted_by_c then unsupported "C code relies on what is in it";
          let user = List.assoc_opt h.qualified r.users in
          if decl.kind <> Opaque then decl.rust <- (match user with Some path -> User path | None -> Own)
          else if user <> None then begin
            if params <> [] then unsupported "an abstract type with parameters";
            if not (Hashtbl.mem r.without_definition key) then
              unsupported "its module must implement it as `type %s`, without a definition, so that only Rust makes its values" (Path.last path);
            decl.boxed <- user
          end
        with Unsupported reason -> decl.reason <- Some reason)
     | _ -> ());
    decl

(* What is around a row in the meaning of an abbreviation. *)
and around_abbreviation r path =
  let around = match Hashtbl.find_opt r.abbreviations (Path.name path) with
    | Some around -> around
    | None ->
      let around_place, around_rust = other_type r (Path.name path) ~name:(Path.last path) in
      { around_place; around_rust; around_qualified = ""; in_function = true; is_instance = false } in
  { around with around_rust = around.around_rust ^ "Variant" }

(* The place and the name in Rust of a type that no bound module declares. Stdlib__Hashtbl.t is stdlib::hashtbl::T. *)
and other_type r key ~name =
  let separators = [ '('; ')'; ' '; ',' ] in
  let plain = String.map (fun c -> if List.mem c separators then '_' else c) key in
  let parts = List.concat_map (Names.split "__") (String.split_on_char '.' plain) in
  match List.rev parts with
  | _ :: modules ->
    let place = other_types :: List.rev_map Names.snake modules in
    let is_taken name = List.exists (fun d -> d.place = place && d.name = name) r.found in
    (place, Names.free is_taken (Names.camel name))
  | [] -> assert false

and never_float d = match d.type_kind with
  | Type_record (_, Record_unboxed _) | Type_variant (_, Variant_unboxed) -> false
  | Type_record _ | Type_variant _ | Type_open -> true
  | _ -> d.type_immediate = Always || (match Option.map Compat.get_desc d.type_manifest with
    | Some (Tvariant _ | Tarrow _ | Ttuple _ | Tobject _ | Tpackage _) -> true
    | _ -> false)

(* Whether a declared type may have floats and other values, because it is `Obj.t`, or is represented so. The type behind an
   abstract type does not count: a module that hides `Obj.t`, so that one type has both, breaks OCaml's own arrays. Of a
   parameter, Rust asks it. *)
and is_any r path d =
  let params = Ctype.instance_list d.type_params in
  let is_param t = List.exists (fun p -> Compat.get_id p = Compat.get_id t) params in
  let rec any t = match Compat.unboxed r.env t with
    | None -> true
    | Some t -> match Compat.get_desc t with
      | Tvar _ -> not (is_param t)
      | Tconstr (path, arguments, _) ->
        let path = normalize r path in
        Path.name path = "Stdlib__Obj.t"
        || builtin path = None && (match Env.find_type path r.env with
          | d -> not (never_float d) && List.exists any arguments
          | exception Not_found -> true)
      | Tarrow _ | Ttuple _ | Tvariant _ | Tobject _ | Tpackage _ -> false
      | _ -> true in
  any (Btype.newgenty (Tconstr (path, params, ref Mnil)))

and inside_part : 'a. t -> string -> (unit -> 'a) -> 'a = fun r name f -> inside r (Option.map (part name) r.around) f

and field r l = { label = Ident.name l.ld_id; ty = inside_part r (Ident.name l.ld_id) (fun () -> ty r 0 l.ld_type); is_mutable = l.ld_mutable = Mutable;
  is_atomic = Compat.is_atomic l }

(* Whether OCaml represents values of a field's type as floats. *)
and is_float r l = match Compat.unboxed r.env l.ld_type with
  | Some t -> (match Compat.get_desc t with Tconstr (path, _, _) -> Path.same path Predef.path_float | _ -> false)
  | None -> false

and parts r = function
  | Cstr_tuple l -> Positional (List.mapi (fun i t -> inside_part r (string_of_int i) (fun () -> ty r 0 t)) (possible l))
  | Cstr_record l -> Labelled (fields r l)

and fields r l = List.map (field r) (possible l)

and kind r d ~params ~is_any = match d.type_kind with
  | Type_record (l, Record_regular) ->
    Record (fields r l, if List.for_all (is_float r) l then `Regular_of_floats else `Regular)
  | Type_record (l, Record_float) -> Record (fields r l, `Flat)
  | Type_record (l, Record_unboxed _) -> Unboxed (None, Labelled (List.map (field r) l))
  | Type_record _ -> unsupported "an unknown kind of record"
  | Type_variant (l, representation) ->
    if List.exists (fun c -> c.cd_res <> None) l then unsupported "a GADT";
    if l = [] then unsupported "no constructors";
    (match representation, l with
     | Variant_unboxed, [ c ] -> Unboxed (Some (Ident.name c.cd_id), parts r c.cd_args)
     | Variant_unboxed, _ -> unsupported "an unknown kind of variant"
     | Variant_regular, _ -> Variant (constructors r l))
  | Type_open -> unsupported "an extensible type"
  | _ -> match Option.map Compat.get_desc d.type_manifest with
    | None -> Opaque
    | Some (Tobject _) -> unsupported "an object"
    | Some (Tvariant row) when d.type_private = Public -> Row (row_constructors r row)
    | Some _ when d.type_private = Public ->
      Option.iter (fun t -> ignore (inside r None (fun () -> ty r 0 t))) d.type_manifest;
      unsupported "an abbreviation of a type that has no marker"
    | Some _ when params = [] && not is_any -> Unboxed (None, Positional [ ty r 0 (Option.get d.type_manifest) ])
    | Some _ -> unsupported "a private abbreviation"

(* Constant constructors are numbered, and constructors with arguments are numbered separately. *)
and constructors r l =
  let constants = ref 0 and blocks = ref 0 in
  let next counter = let n = !counter in incr counter; n in
  List.map (fun c ->
    let parts = inside_part r (Ident.name c.cd_id) (fun () -> parts r c.cd_args) in
    let tag = if parts = Positional [] then Constant (next constants) else Block (next blocks) in
    { constructor = Ident.name c.cd_id; parts; tag }) l

and row_constructors r row =
  if not (Compat.row_is_exact row) then unsupported "a polymorphic variant that is not exact";
  (* In the order in which OCaml prints them. *)
  List.sort (fun a b -> compare a.constructor b.constructor) @@ List.filter_map (fun (label, argument) ->
    let hash = Btype.hash_variant label in
    match argument with
    | Some None -> Some { constructor = label; parts = Positional []; tag = Hash hash }
    | Some (Some t) -> Some { constructor = label; parts = Positional [ ty r 0 t ]; tag = Tagged hash }
    | None -> None) (Compat.row_fields row)
