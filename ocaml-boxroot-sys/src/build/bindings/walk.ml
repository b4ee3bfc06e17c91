(* Walks through the interfaces of the modules that are bound. First all public types get their homes, then items are read. *)
open Types
open Model

type selection = {
  only : string list;
  names : (string * string) list;  (* names of Rust that the build script gives *)
  documentation : (string, string) Hashtbl.t;  (* by kind and path; see cmt.ml *)
  hidden : (string * string) list;  (* paths of values that the implementation declares as primitives, with these names *)
}

(* A module whose items are known, but not read yet. *)
type raw = {
  path : Path.t;
  raw_name : string;  (* in Rust *)
  raw_comment : string;
  raw_path : string list;
  qualified : string;  (* as build scripts name it: orders.sub *)
  signature : signature;
  subs : (string * raw) list;
}

let uncapitalized qualified = String.concat "." (List.map Compat.uncapitalize (String.split_on_char '.' qualified))

(* An item, as build scripts name it. A capital letter at the beginning of a name becomes a small one. *)
let qualify raw name = raw.qualified ^ "." ^ Compat.uncapitalize name

(* Whether a name of Rust is for a type or an exception. *)
let is_capital rust = Compat.capitalize rust = rust && not (String.starts_with ~prefix:"_" rust)

let given_name selection raw name ~is_capital:wanted =
  let fits (item, rust) = item = qualify raw name && is_capital rust = wanted in
  Option.map snd (List.find_opt fits selection.names)

(* The name that the build script gives to the value of this path. *)
let given_to_value selection raws path =
  let rec find parent raw = if Path.same raw.path parent then Some raw else List.find_map (fun (_, sub) -> find parent sub) raw.subs in
  match path with
  | Path.Pdot (parent, name) ->
    Option.bind (List.find_map (find parent) raws) (fun raw -> given_name selection raw name ~is_capital:false)
  | _ -> None
[@@ocaml.warning "-4"]

(* A value as OCaml code names it. *)
let value_path r path = match path with
  | Path.Pdot (parent, name) when Names.is_operator name -> Printf.sprintf "%s.( %s )" (Reader.ocaml r parent) name
  | _ -> Reader.ocaml r path
[@@ocaml.warning "-4"]

(* The names of a value, and of a type or an exception. *)
let value_name selection raw name =
  Option.value (given_name selection raw name ~is_capital:false) ~default:(Names.value name)
let capital_name selection raw name = Option.value (given_name selection raw name ~is_capital:true) ~default:(Names.camel name)

(* The text that OCaml's own printer makes of an item. *)
let print item = Format.asprintf "%a" Printtyp.signature [ item ]

let is_excluded path = List.mem (Path.name path) Libraries.excluded

let signature_of (r : Reader.t) path =
  match Mtype.scrape r.env (Env.find_module path r.env).md_type with
  | Mty_signature s -> Some s
  | _ -> None
[@@ocaml.warning "-4"]

(* Whether a module is in a separate file of this module, or is that file: `Stdlib__List` is of Stdlib. *)
let is_in_own_file base target =
  let file = Path.head target in
  Ident.persistent file && Names.starts_with (base ^ "__") (Ident.name file)

(* `module List = Stdlib__List` in Stdlib: such an alias is a part of the module. *)
let own_file base target = match target with
  | Path.Pident _ -> is_in_own_file base target
  | _ -> false

(* Whether the interface of a module is there. That of a library's private module is not beside the other interfaces. *)
let has_interface (r : Reader.t) path = match Env.find_module path r.env with
  | _ -> true
  | exception Not_found -> false

(* The Rust name of a module. `taken` has the others around it, each with what has it. *)
let module_name taken ~wanted what =
  let name = Names.free (Hashtbl.mem taken) wanted in
  let other = Option.value (Hashtbl.find_opt taken wanted) ~default:"" in
  Hashtbl.replace taken name what;
  (name, Names.note ~wanted ~other name)

let rec raw (r : Reader.t) ~base path ~name ~comment ~rust_path ~qualified signature =
  let taken = Hashtbl.create 10 in
  let sub = function
    | Sig_module (id, _, md, _, Exported) ->
      let name = Ident.name id in
      let inside = Path.Pdot (path, name) in
      let path = match md.md_type with
        | Mty_alias _ ->
          let target = Env.normalize_module_path None r.env inside in
          if own_file base target && has_interface r target then begin
            Hashtbl.replace r.aliases (Path.name target) (Reader.ocaml r path ^ "." ^ name);
            Some target
          end else None
        | _ -> Some inside in
      (match path with
       | Some path when not (is_excluded path) ->
         (match signature_of r path with
          | Some s ->
            let qualified = qualified ^ "." ^ Compat.uncapitalize name in
            let rust, comment = module_name taken ~wanted:(Names.snake name) ("module " ^ Path.name path) in
            Some (name, raw r ~base path ~name:rust ~comment ~rust_path:(rust_path @ [ rust ]) ~qualified s)
          | None -> None)
       | _ -> None)
    | _ -> None in
  { path; raw_name = name; raw_comment = comment; raw_path = rust_path; qualified; signature; subs = List.filter_map sub signature }
[@@ocaml.warning "-4"]

(* The modules of a raw tree. *)
let rec all raw = raw :: List.concat_map (fun (_, sub) -> all sub) raw.subs

(* What the aliases of a module that are not read as its parts stand for, by name. *)
let targets (r : Reader.t) raw =
  List.filter_map (function
    | Sig_module (id, _, { md_type = Mty_alias _; _ }, _, Exported) when not (List.mem_assoc (Ident.name id) raw.subs) ->
      Some (Ident.name id, Env.normalize_module_path None r.env (Path.Pdot (raw.path, Ident.name id)))
    | _ -> None) raw.signature
[@@ocaml.warning "-4"]

(* Adds modules that are in files of their own library, if that is their only name: `module Group = Re__Core.Group` in Re, which has
   no name for the file Re__Core. *)
let with_parts_of_files (r : Reader.t) raws =
  let there = Hashtbl.create 50 in
  let note = List.iter (fun m -> Hashtbl.replace there (Path.name m.path) ()) in
  let modules = List.concat_map all raws in
  note modules;
  let named = List.concat_map (fun m -> List.map (fun (_, target) -> Path.name target) (targets r m)) modules in
  let rec is_in_named = function
    | Path.Pdot (around, _) -> List.mem (Path.name around) named || is_in_named around
    | _ -> false in
  let rec add ~base m =
    let taken = Hashtbl.create 10 in
    List.iter (fun (_, sub) -> Hashtbl.replace taken sub.raw_name ("module " ^ Path.name sub.path)) m.subs;
    let part (name, target) =
      if not (is_in_own_file base target && has_interface r target) || is_excluded target || is_in_named target
         || Hashtbl.mem there (Path.name target) then None
      else
        Option.map (fun signature ->
          let rust, comment = module_name taken ~wanted:(Names.snake name) ("module " ^ Path.name target) in
          let sub = raw r ~base target ~name:rust ~comment ~rust_path:(m.raw_path @ [ rust ])
            ~qualified:(m.qualified ^ "." ^ Compat.uncapitalize name) signature in
          note (all sub);
          (name, sub)) (signature_of r target) in
    let parts = List.filter_map part (targets r m) in
    { m with subs = List.map (fun (name, sub) -> (name, add ~base sub)) (m.subs @ parts) } in
  List.map (fun m -> add ~base:(Ident.name (Path.head m.path)) m) raws
[@@ocaml.warning "-4"]

(* Fails, and names the interfaces in the folders that are searched, without the standard library's. *)
let no_module name =
  let interfaces folder = List.filter_map (fun file ->
    if Filename.check_suffix file ".cmi" then Some (Compat.capitalize (Filename.chop_suffix file ".cmi")) else None)
    (Array.to_list (Sys.readdir folder)) in
  let there = List.sort_uniq compare (List.concat_map interfaces !Clflags.include_dirs) in
  failwith (Printf.sprintf "there is no module %s. %s" name (Names.there_are there))

(* A module has a file if it is not a part of another one, as Hashtbl is of Stdlib. *)
let has_file (r : Reader.t) name =
  Env.bound_module name r.env
  && (match Env.find_module (Path.Pident (Ident.create_persistent name)) r.env with _ -> true | exception Not_found -> false)

(* Of Foo__Bar, Bar. Of Foo__, the module of aliases of a dune library, all. *)
let last_part name = match List.rev (Names.split "__" name) with
  | "" :: part :: _ -> part ^ "__"
  | part :: _ -> part
  | [] -> name

(* Names that a module of the crate must not have: of crates, whose paths would lead into the module; and of modules that are
   generated. *)
let taken_in_crate () =
  let taken = Hashtbl.create 10 in
  List.iter (fun name -> Hashtbl.replace taken name ("the crate " ^ name)) [ "alloc"; "core"; "ocaml_boxroot"; "std" ];
  List.iter (fun name -> Hashtbl.replace taken name "a module of the bindings themselves")
    [ Reader.other_types; "ocaml_labels"; "ocaml_externals"; "ocaml_externals_missing" ];
  taken

(* The raw tree of a module that has a file. `taken` has the Rust names of other modules. *)
let bound (r : Reader.t) taken name =
  let path = Path.Pident (Ident.create_persistent name) in
  if not (has_file r name) then begin
    let of_library = "Stdlib__" ^ name in
    if has_file r of_library then failwith (Printf.sprintf "the standard library's module %s is bound as %s" name of_library)
    else no_module name
  end;
  if is_excluded path then failwith (Printf.sprintf "module %s takes and makes values of any type" name);
  let own = last_part name in
  match signature_of r path with
  | Some s ->
    let rust, comment = module_name taken ~wanted:(Names.snake own) ("module " ^ name) in
    raw r ~base:name path ~name:rust ~comment ~rust_path:[ rust ] ~qualified:(Compat.uncapitalize own) s
  | None -> failwith (Printf.sprintf "module %s is a functor: apply it in a module of yours, and bind that" name)

(* The modules that have files. *)
let files raw = List.sort_uniq compare (List.map (fun m -> Ident.name (Path.head m.path)) (all raw))

let documentation selection kind path = Hashtbl.find_opt selection.documentation (kind ^ " " ^ path)

(* Gives homes to the types of this module that no other bound module declares; if `own`, only to those whose own path is here. *)
let rec homes (r : Reader.t) selection ~own raw =
  Hashtbl.replace r.places (Path.name raw.path) raw.raw_path;
  List.iter (function
    | Sig_type (id, d, _, Exported) when not (String.contains (Ident.name id) '#') ->
      let name = Ident.name id in
      let here = Path.Pdot (raw.path, name) in
      (match Reader.canonical r here with
       | Some path when (Path.same path here || not own) && not (Hashtbl.mem r.homes (Path.name path))
           && Reader.add_object r path (Reader.find_type r path) ->
         Hashtbl.add r.homes (Path.name path) {
           home_path = here; home_place = raw.raw_path; rust = capital_name selection raw name; qualified = qualify raw name;
           home_comment = print (Sig_type (id, d, Trec_first, Exported));
           home_doc = documentation selection "type" (Path.name here) }
       | Some _ -> ()
       | None -> Reader.add_abbreviation r here { around_place = raw.raw_path; around_rust = capital_name selection raw name;
           around_qualified = qualify raw name; in_function = true; is_instance = false }
       | exception Reader.Unsupported _ -> ())
    | _ -> ()) raw.signature;
  List.iter (fun (_, sub) -> homes r selection ~own sub) raw.subs
[@@ocaml.warning "-4"]

(* What an object type has, if its home is here. *)
let with_home (r : Reader.t) raw id items =
  let here = Path.Pdot (raw.path, Ident.name id) in
  match Reader.canonical r here with
  | Some own -> (match Hashtbl.find_opt r.homes (Path.name own) with
    | Some home when Path.same home.home_path here -> items own (Reader.find_type r own)
    | _ -> [])
  | None -> []
  | exception Reader.Unsupported _ -> []

(* What build scripts call the coercion to a type, among the methods. *)
let coercion other = "as_" ^ Path.last other

(* The methods and coercions of an item, and what makes objects of a class, as build scripts name them in its module. *)
let members r raw = function
  | Sig_type (id, d, _, Exported) when not (String.contains (Ident.name id) '#') && Reader.object_of d <> None ->
    with_home r raw id @@ fun _ d ->
    let methods = match Reader.object_of d with Some t -> List.map fst (fst (Reader.methods t)) | None -> [] in
    List.map (inside (Ident.name id)) (methods @ List.map coercion (Reader.more_general r d))
  | Sig_class (id, { cty_new = Some _; _ }, _, Exported) -> [ inside (Ident.name id) "new" ]
  | _ -> []
[@@ocaml.warning "-4"]

(* The names of all items, as build scripts write them. *)
let rec names r raw =
  List.concat_map (fun item -> List.map (qualify raw) (Ident.name (signature_item_id item) :: members r raw item)) raw.signature
  @ [ raw.qualified ] @ List.concat_map (fun (_, sub) -> names r sub) raw.subs

(* The names of the items that `rename` gives such a name. *)
let rec renamable r raw ~is_capital =
  List.concat_map (function
    | Sig_value (id, _, _) when not is_capital -> [ qualify raw (Ident.name id) ]
    | (Sig_type (id, _, _, _) | Sig_typext (id, _, _, _)) when is_capital -> [ qualify raw (Ident.name id) ]
    | item when not is_capital -> List.map (qualify raw) (members r raw item)
    | _ -> []) raw.signature
  @ List.concat_map (fun (_, sub) -> renamable r sub ~is_capital) raw.subs
[@@ocaml.warning "-4"]

(* Whether a selection names this item, or a module around it. *)
let chosen selection qualified =
  selection.only = []
  || List.exists (fun s -> s = qualified || Names.starts_with (s ^ ".") qualified) selection.only

(* ---- Primitives: OCaml's compiler believes their types. ---- *)

(* The primitives of the standard library, each with its type. *)
let library_primitives : (Reader.t -> (string * type_expr) list) =
  let found = ref None in
  let rec primitives (r : Reader.t) path =
    List.concat_map (function
      | Sig_value (id, { val_kind = Val_prim p; _ }, _) ->
        [ (p.prim_name, (Env.find_value (Path.Pdot (path, Ident.name id)) r.env).val_type) ]
      | Sig_module (id, _, _, _, _) ->
        let inside = Env.normalize_module_path None r.env (Path.Pdot (path, Ident.name id)) in
        if is_excluded inside || not (has_interface r inside) then [] else primitives r inside
      | _ -> []) (Option.value (signature_of r path) ~default:[]) in
  fun r -> match !found with
    | Some l -> l
    | None ->
      let l = primitives r (Path.Pident (Ident.create_persistent "Stdlib")) in
      found := Some l;
      l
[@@ocaml.warning "-4"]

(* Whether a type, which names no abbreviations, is an instance of a more general one. *)
let is_instance (r : Reader.t) ~general t =
  let bound = ref [] in
  let rec same a b = match Compat.get_desc a, Compat.get_desc b with
    | Tvar _, Tvar _ -> Compat.get_id a = Compat.get_id b
    | _ -> structure same a b
  and instance a b = match Compat.get_desc a with
    | Tvar _ -> (match List.assoc_opt (Compat.get_id a) !bound with
      | Some c -> same c b
      | None -> bound := (Compat.get_id a, b) :: !bound; true)
    | _ -> structure instance a b
  and structure compare a b = match Compat.get_desc a, Compat.get_desc b with
    | Tarrow (label, a, c, _), Tarrow (other, b, d, _) -> label = other && compare a b && compare c d
    | Tconstr (p, l, _), Tconstr (q, m, _) -> Path.same (Reader.normalize r p) (Reader.normalize r q) && all compare l m
    | Ttuple l, Ttuple m -> all compare (List.map snd (Compat.tuple l)) (List.map snd (Compat.tuple m))
    | Tpoly (a, []), _ -> compare a b
    | _, Tpoly (b, []) -> compare a b
    | _ -> false
  and all compare l m = List.compare_lengths l m = 0 && List.for_all2 compare l m in
  (* The labels of its own arguments do not count. *)
  let rec function_ a b = match Compat.get_desc a, Compat.get_desc b with
    | Tarrow (_, a, c, _), Tarrow (_, b, d, _) -> instance a b && function_ c d
    | _ -> instance a b in
  function_ general t
[@@ocaml.warning "-4"]

(* The variables of a type, each with the constructor that it stands under. *)
let rec places around ty =
  let under constructor = List.concat (List.mapi (fun i t -> places (Some (constructor, i)) t) (children ty)) in
  match ty with
  | Var v -> [ (v.id, around) ]
  | Builtin (b, _) -> under (`Builtin b)
  | Named (d, _) -> under (`Named d.ocaml)
  | Tuple _ -> under `Tuple
  | Arrow _ -> under `Arrow

(* Whether a function of this type gives a value another type: a variable of the result stands under a constructor under which it
   does not stand in the arguments. *)
let is_retyping arguments result =
  let given = List.concat_map (fun a -> places None a.arg) arguments in
  List.exists (fun (v, around) -> around <> None && not (List.mem (v, around) given)) (places None result)

(* Whether `%identity` gives an `int` an abstract type of its own module, or the reverse: only the module can know, and says so, which
   values its type has, as if a function of C converted them. If Rust implements the type, it is no `int`. *)
let is_own_conversion (r : Reader.t) parent name v =
  let rec plain t = match Compat.get_desc t with Tpoly (t, []) -> plain t | t -> t in
  let is_int t = match plain t with Tconstr (path, [], _) -> Path.same path Predef.path_int | _ -> false in
  let is_own t = match plain t with
    | Tconstr (path, [], _) -> (match Reader.normalize r path with
      | Pdot (around, _) as path when Path.same around parent ->
        let d = Reader.find_type r path in
        d.type_manifest = None && not (Reader.has_definition d) && (Reader.decl r path d).boxed = None
      | _ -> false)
    | _ -> false in
  name = "%identity" && match Compat.get_desc v.val_type with
    | Tarrow (_, a, b, _) -> (is_int a && is_own b) || (is_own a && is_int b)
    | _ -> false
[@@ocaml.warning "-4"]

(* Whether nobody has checked the type of this primitive: it is one of the compiler, or gives a value another type; and the standard
   library does not declare it with this type. *)
let is_unchecked_primitive r parent name v arguments result =
  (Names.starts_with "%" name && not (is_own_conversion r parent name v) || is_retyping arguments result)
  && (
    (* Every type of `Sys.opaque_identity` is also right for `%identity`, which OCaml 5.5's library does not declare so. *)
    let is_declaration other = other = name || (name = "%identity" && other = "%opaque") in
    not (List.exists (fun (other, general) -> is_declaration other && is_instance r ~general v.val_type) (library_primitives r)))

(* Whether rows that are not exact, and objects, are arguments of a function, and nowhere else. *)
let rec rows_are_arguments t = match Compat.get_desc t with
  | Tarrow (_, a, b, _) -> is_exact_inside a && rows_are_arguments b
  | _ -> is_exact t

and is_exact_inside t = match Compat.get_desc t with
  | Tpoly (t, []) -> is_exact_inside t
  | Tvariant row -> Reader.constructors_hold is_exact row
  | Tobject _ -> List.for_all (fun (_, t) -> is_exact t) (fst (Reader.methods t))
  | Tconstr (path, [ t ], _) when Path.same path Predef.path_option -> is_exact_inside t
  | _ -> is_exact t

and is_exact t =
  let seen = Hashtbl.create 10 in
  let rec go t =
    Hashtbl.mem seen (Compat.get_id t) || begin
      Hashtbl.add seen (Compat.get_id t) ();
      match Compat.get_desc t with
      | Tpoly (t, []) -> go t
      | Tarrow (_, a, b, _) -> go a && go b
      | Ttuple parts -> List.for_all (fun (_, t) -> go t) (Compat.tuple parts)
      | Tconstr (_, l, _) -> List.for_all go l
      | Tvariant row -> Compat.row_is_exact row && Reader.constructors_hold go row
      | Tvar _ -> true
      | Tobject _ ->
        let methods, others = Reader.methods t in
        (match Compat.get_desc others with Tnil -> true | _ -> false) && List.for_all (fun (_, t) -> go t) methods
      | desc -> (match Compat.package desc with
        | Some (_, constraints) -> List.for_all (fun (_, t) -> go t) constraints
        | None -> false)
    end in
  go t
[@@ocaml.warning "-4"]

let is_function (r : Reader.t) t = match Compat.get_desc (Ctype.expand_head r.env t) with Tarrow _ -> true | _ -> false
[@@ocaml.warning "-4"]

let refuse_any arguments result = match result with
  | Var v when not (mem v (List.concat_map (fun a -> vars a.arg) arguments)) -> Reader.unsupported "its result is of any type"
  | _ -> ()
[@@ocaml.warning "-4"]

let value r selection raw id comment =
  let name = Ident.name id in
  if not (Names.has_path name) then Reader.unsupported "OCaml has no path to it";
  let path = Path.Pdot (raw.path, name) in
  let v = Env.find_value path r.Reader.env in
  let primitive = match v.val_kind with
    | Val_prim p when not (Names.starts_with "%" p.prim_name || Names.is_c_name (Reader.symbol p)) ->
      Reader.unsupported "a symbol that is not a name in C"
    | Val_prim p -> Some p.prim_name
    | _ -> List.assoc_opt (Path.name path) selection.hidden in
  let around = { Reader.around_place = raw.raw_path; around_rust = Names.camel (value_name selection raw name);
    around_qualified = qualify raw name; in_function = true; is_instance = true } in
  let arguments, result = Reader.inside r (Some around) (fun () -> Reader.arrows r max_int v.val_type) in
  refuse_any arguments result;
  let is_unsafe = Names.contains name "unsafe" || Libraries.is_unsafe_function (Path.name path)
    || (match primitive with
        | Some p -> Names.contains p "unsafe" || Libraries.is_unsafe_primitive p
          (* Nobody has checked that rows of arguments are those of results, or of what a function gets. *)
          || not (rows_are_arguments v.val_type)
          (* A function that the primitive returns is a value, which it may give another type. *)
          || (let taken, returned = Reader.inside r (Some around) (fun () -> Reader.arrows_inside r 0 max_int v.val_type) in
              is_unchecked_primitive r raw.path p v taken returned)
        | None -> false) in
  (match arguments, result with
   | [], _ when is_unsafe && is_function r v.val_type -> Reader.unsupported "an unsafe function whose type is an abbreviation"
   | _ -> ());
  let value_path = value_path r path in
  { value = name; value_qualified = qualify raw name; value_name = value_name selection raw name; value_path; arguments; result;
    value_code = value_path; is_method = false; is_made_name = false; is_unsafe = is_unsafe && arguments <> [];
    value_comment = comment; value_doc = documentation selection "val" (Path.name path) }
[@@ocaml.warning "-4"]

(* A method, or what makes objects of a class. `made` is its name in Rust, if the build script gives none. `path` is
   its own name among all that is registered, and `read` returns the arguments, the result, and OCaml's expression for the function. *)
let member (r : Reader.t) selection raw ~class_ ~name ~made ~path ~is_method ~comment ~doc read =
  let item = inside class_ name in
  let given = given_name selection raw item ~is_capital:false in
  let value_name = Option.value given ~default:made in
  let around = { Reader.around_place = raw.raw_path; around_rust = Names.camel value_name; around_qualified = qualify raw item; in_function = true;
    is_instance = true } in
  if not (chosen selection (qualify raw item)) then []
  else
    try
      let arguments, result, value_code = Reader.inside r (Some around) read in
      refuse_any arguments result;
      [ Value {
          value = (if is_method then name else class_); value_qualified = qualify raw item; value_name;
          value_path = path; value_code; is_method; is_made_name = given = None; arguments; result;
          is_unsafe = Names.contains item "unsafe"; value_comment = comment; value_doc = doc } ]
    with Reader.Unsupported why ->
      [ Left_out { what = comment; why; missed = [ Printf.sprintf "pub fn %s() {}" (Names.identifier value_name) ] } ]
[@@ocaml.warning "-4"]

let print_member word name t = Format.asprintf "%s %s : %a" word name Printtyp.type_expr t

(* The methods of an object type that has its home here. *)
let methods (r : Reader.t) selection raw id declared =
  with_home r raw id @@ fun own d ->
  let class_ = Ident.name id in
  let all d = match Reader.object_of d with Some t -> fst (Reader.methods t) | None -> [] in
  (* As the signature prints them, with bare names. *)
  let printed = List.map (fun (name, t) -> (name, print_member "method" name t)) (all declared) in
  List.concat_map (fun (name, t) ->
    member r selection raw ~class_ ~name ~is_method:true ~made:(Names.without_primes (class_ ^ "_" ^ name))
      ~comment:(Option.value (List.assoc_opt name printed) ~default:(print_member "method" name t))
      ~doc:(documentation selection "method" (Path.name (Path.Pdot (raw.path, class_)) ^ "." ^ name))
      ~path:(Printf.sprintf "%s.%s" (Reader.ocaml r own) name) @@ fun () ->
    let arguments, result = Reader.method_ r own d t in
    (arguments, result, Glue.method_ name (List.tl arguments))) (all d)

(* Coercions of objects of this type. *)
let coercions (r : Reader.t) selection raw id =
  with_home r raw id @@ fun own d ->
  let class_ = Ident.name id in
  List.concat_map (fun other ->
    let name = coercion other in
    let ocaml path = Reader.ocaml r path in
    member r selection raw ~class_ ~name ~is_method:true ~made:(Names.without_primes (class_ ^ "_" ^ name))
      ~comment:(Printf.sprintf "(%s :> %s)" class_ (Path.name other)) ~doc:None
      ~path:(Printf.sprintf "(%s :> %s)" (ocaml own) (ocaml other)) @@ fun () ->
    let self = Reader.named r 0 own [] and result = Reader.named r 0 other [] in
    ([ { arg_label = Nolabel; arg = self } ], result, Printf.sprintf "fun o -> (o : %s :> %s)" (ocaml own) (ocaml other)))
    (Reader.more_general r d)

(* What makes objects of a class. *)
let new_ (r : Reader.t) selection raw id declared =
  let class_ = Ident.name id in
  let here = Path.Pdot (raw.path, class_) in
  match (Env.find_class here r.env).cty_new with
  | None -> if chosen selection (qualify raw class_) then [ Remark ("class virtual " ^ class_ ^ " makes no objects") ] else []
  | Some t ->
    let new_ = "new " ^ Reader.ocaml r here in
    member r selection raw ~class_ ~name:"new" ~is_method:false ~made:("new_" ^ Names.without_primes class_)
      ~comment:(print_member "new" class_ (Option.value declared.cty_new ~default:t))
      ~doc:(documentation selection "type" (Path.name here)) ~path:new_ @@ fun () ->
    match Reader.arrows r max_int t with
    (* `new c` alone is an object. *)
    | [], result -> ([ { arg_label = Nolabel; arg = Builtin (Unit, []) } ], result, "fun () -> " ^ new_)
    | arguments, result -> (arguments, result, new_)
[@@ocaml.warning "-4"]

(* Whether a later item of the signature has a constructor of this name: OCaml finds the last one. *)
let is_hidden raw id =
  let name = Ident.name id in
  let hides = function
    | Sig_typext (other, _, _, Exported) -> Ident.name other = name
    | Sig_type (_, { type_kind = Type_variant (l, _); _ }, _, Exported) -> List.exists (fun c -> Ident.name c.cd_id = name) l
    | _ -> false in
  let rec after = function
    | Sig_typext (other, _, _, _) :: rest when Ident.same other id -> List.exists hides rest
    | _ :: rest -> after rest
    | [] -> false in
  after raw.signature
[@@ocaml.warning "-4"]

let exception_ r selection raw id extension comment =
  let name = Ident.name id in
  if Names.is_operator name || name = "true" || name = "false" || is_hidden raw id then
    Reader.unsupported "OCaml has no path to an exception with this name";
  let path = Path.Pdot (raw.path, name) in
  let extension = Subst.extension_constructor (Reader.global raw.path raw.signature Subst.identity) extension in
  if extension.ext_ret_type <> None then Reader.unsupported "a GADT";
  let around = { Reader.around_place = raw.raw_path; around_rust = capital_name selection raw name; around_qualified = qualify raw name;
    in_function = false; is_instance = false } in
  let exception_parts = Reader.inside r (Some around) (fun () -> Reader.parts r extension.ext_args) in
  if List.concat_map vars (parts_types exception_parts) <> [] then Reader.unsupported "a type variable";
  { exception_name = capital_name selection raw name; exception_qualified = qualify raw name; exception_path = Reader.ocaml r path; exception_parts;
    exception_comment = comment; exception_doc = documentation selection "exception" (Path.name path); exception_derives = [] }

(* `is_external symbol`: whether Rust provides it, so that Rust has no function that calls it. *)
let functor_ = "a functor: apply it in a module of yours, and bind that"

let rec items (r : Reader.t) selection ~is_external ~externals raw =
  let left_out ?(missed = []) what why = [ Left_out { what; why; missed } ] in
  let missed name = [ Printf.sprintf "pub mod %s {}" (Names.snake name) ] in
  let chosen id = chosen selection (qualify raw (Ident.name id)) in
  let item i = match i with
    | Sig_value (_, { val_kind = Val_prim p; _ }, Exported) when is_external p -> []
    | Sig_value (id, _, Exported) when chosen id ->
      let comment = print i in
      (try [ Value (value r selection raw id comment) ]
       with Reader.Unsupported reason ->
         let missed = match value_name selection raw (Ident.name id) with
           | name when Names.has_path (Ident.name id) -> [ Printf.sprintf "pub fn %s() {}" (Names.identifier name) ]
           | _ -> [] in
         left_out ~missed comment reason)
    | Sig_type (id, d, _, Exported) when not (String.contains (Ident.name id) '#') ->
      (if chosen id then type_ r selection raw id d else []) @ methods r selection raw id d @ coercions r selection raw id
    | Sig_typext (id, extension, Text_exception, Exported) when chosen id ->
      let comment = print i in
      (try [ Exception (exception_ r selection raw id extension comment) ]
       with Reader.Unsupported reason ->
         left_out ~missed:[ Printf.sprintf "pub struct %s;" (capital_name selection raw (Ident.name id)) ] comment reason)
    | Sig_typext (id, _, _, Exported) when chosen id -> left_out (print i) "an extension of a type"
    | Sig_class (id, declared, _, Exported) -> new_ r selection raw id declared
    | Sig_module (id, _, md, _, Exported) ->
      let name = Ident.name id in
      (match List.assoc_opt name raw.subs, md.md_type with
       | Some sub, _ ->
         let m = items r selection ~is_external ~externals:[] sub in
         if m.items = [] then [] else [ Module m ]
       | None, _ when not (chosen id) -> []
       | None, Mty_alias _ ->
         let target = Env.normalize_module_path None r.env (Path.Pdot (raw.path, name)) in
         let what = Printf.sprintf "module %s = %s" name (Path.name target) in
         let left_out = left_out ~missed:(missed name) what in
         if is_excluded target then left_out "its functions take and make values of any type"
         else if not (has_interface r target) then
           left_out "it has no interface (.cmi): it is private, or was not compiled before the bindings"
         else if signature_of r target = None then left_out functor_
         else if signature_of r target = Some [] then []
         else
           let file = Ident.name (Path.head target) in
           let is_own = Path.same (Path.Pident (Path.head target)) (Path.Pident (Path.head raw.path)) in
           let otherwise =
             if is_own then Printf.sprintf "nothing of %s is bound" (Path.name target)
             else Printf.sprintf "`bind(\"%s\")` binds it" (Compat.uncapitalize file) in
           [ Again { again = Names.snake name; of_module = Path.name target; again_comment = what; otherwise; found_at = None } ]
       | None, Mty_functor _ -> left_out ~missed:(missed name) ("module " ^ name) functor_
       | None, _ -> left_out ~missed:(missed name) ("module " ^ name) "an unknown signature")
    | _ -> [] in
  let items = List.concat_map item raw.signature in
  { ocaml_module = Path.name raw.path; module_qualified = raw.qualified; rust_name = raw.raw_name; rust_path = raw.raw_path;
    module_comment = raw.raw_comment; items; externals }
[@@ocaml.warning "-4"]

(* A type of this signature: declared here, or elsewhere, or an abbreviation. *)
and type_ r selection raw id d =
  let name = Ident.name id in
  let path = Path.Pdot (raw.path, name) in
  let rust = capital_name selection raw name in
  let comment () = print (Sig_type (id, d, Trec_first, Exported)) in
  let reexport declared =
    Reexport { declared; reexport = rust; reexport_path = Reader.ocaml r path; reexport_comment = comment () } in
  try match Reader.canonical r path with
    | Some own ->
      let decl = Reader.decl r own (Reader.find_type r own) in
      let is_home = match Hashtbl.find_opt r.homes (Path.name own) with
        | Some home -> Path.same home.home_path path
        | None -> false in
      [ if is_home then Type decl else reexport decl ]
    | None ->
      let params = List.map Reader.var d.type_params in
      if not (are_distinct params) then raise (Reader.Unsupported "constrained type parameters");
      match Reader.named r 0 (Reader.normalize r path) (List.map (fun v -> Var v) params) with
      | Named (decl, l) when l = List.map (fun v -> Var v) params -> [ reexport decl ]
      | means ->
        let alias_path = Reader.ocaml r path in
        [ Abbreviation { alias = rust; alias_path; alias_params = params; means; alias_comment = comment () } ]
  with Reader.Unsupported why ->
    [ Left_out { what = comment (); why; missed = List.map (Printf.sprintf "pub struct %s;") [ "OCaml" ^ rust; rust ] } ]

(* Adds the types that were found but are not items of a bound module, such as types of other modules. *)
let with_types modules types =
  let rec declared m = List.concat_map (function
    | Type d -> [ d ] | Module m -> declared m | Abbreviation _ | Reexport _ | Value _ | Exception _ | Left_out _ | Remark _ | Again _ -> []) m.items in
  let there = List.concat_map declared modules in
  let rec insert path rest decl modules = match rest with
    | [] -> assert false
    | name :: rest ->
      let path = path @ [ name ] in
      let into m =
        let inside = List.filter_map (function Module m -> Some m | _ -> None) m.items in
        let items = List.filter (function Module _ -> false | _ -> true) m.items in
        if rest = [] then { m with items = Type decl :: m.items }
        else { m with items = items @ List.map (fun m -> Module m) (insert path rest decl inside) } in
      if List.exists (fun m -> m.rust_name = name) modules then
        List.map (fun m -> if m.rust_name = name then into m else m) modules
      else modules @ [ into { ocaml_module = String.concat "." path; module_qualified = ""; rust_name = name; rust_path = path;
                          module_comment = ""; items = []; externals = [] } ] in
  List.fold_left (fun modules d -> if List.memq d there then modules else insert [] d.place d modules) modules types
[@@ocaml.warning "-4"]

(* Finds the modules that have other names. *)
let find_again modules =
  let there = Hashtbl.create 50 in
  let rec note m =
    Hashtbl.replace there m.ocaml_module m.rust_path;
    List.iter (function Module sub -> note sub | _ -> ()) m.items in
  let rec find m = List.iter (function
    | Again a -> a.found_at <- Hashtbl.find_opt there a.of_module
    | Module sub -> find sub
    | _ -> ()) m.items in
  List.iter note modules;
  List.iter find modules
[@@ocaml.warning "-4"]
