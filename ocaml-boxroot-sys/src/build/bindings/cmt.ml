(* Reads .cmt and .cmti files: documentation, and externals, of which some are in no interface. *)
open Typedtree
open Model

type found = {
  name : string;
  primitive : Primitive.description;
  of_type : Types.type_expr;
  path : Path.t option;  (* where the interface would have it *)
  found_doc : string option;
}

type scanned = {
  unit_name : string;
  found : found list;
  docs : (string * string) list;
  without_definition : string list;  (* types that the module itself implements as `type t` *)
  primitives : (string * string) list;  (* values that are primitives, in the interface or not: their paths and declarations *)
}

let doc attributes =
  List.find_map (fun (a : Parsetree.attribute) -> match a.attr_name.txt, a.attr_payload with
    | "ocaml.doc", PStr [ { pstr_desc = Pstr_eval (e, _); _ } ] -> Compat.string_constant e
    | _ -> None) attributes
[@@ocaml.warning "-4"]

(* The types that this structure declares itself without a definition. An included structure does not count: it may hide one. *)
let without_definition name s =
  let of_declaration d = match d.typ_kind, d.typ_manifest, d.typ_type.type_immediate with
    | Ttype_abstract, None, Unknown -> Some (name ^ "." ^ Ident.name d.typ_id)
    | _ -> None in
  List.concat_map (fun i -> match i.str_desc with
    | Tstr_type (_, l) -> List.filter_map of_declaration l
    | _ -> []) s.str_items
[@@ocaml.warning "-4"]

(* The primitive that a definition gives another name. *)
let renamed b = match b.vb_expr.exp_desc with
  | Texp_ident (_, _, { val_kind = Val_prim p; _ }) -> Some p
  | _ -> None
[@@ocaml.warning "-4"]

(* `here` is the path of the enclosing module, if code outside of it can name that module. `subst` replaces bare names by paths.
   *)
let scan (infos : Cmt_format.cmt_infos) =
  let here = ref (Some (Path.Pident (Ident.create_persistent infos.cmt_modname))) in
  let subst = ref Subst.identity in
  let found = ref [] and docs = ref [] and primitives = Hashtbl.create 10 in
  let inside path visit =
    let before_here = !here and before_subst = !subst in
    here := path;
    visit ();
    here := before_here;
    subst := before_subst in
  let path name = Option.map (fun p -> Path.Pdot (p, name)) !here in
  let document kind name attributes = match path name, doc attributes with
    | Some p, Some d -> docs := (kind ^ " " ^ Path.name p, d) :: !docs
    | _ -> () in
  (* A later item of the same name hides an earlier one. *)
  let define name primitive = Option.iter (fun path -> match primitive with
    | Some p -> Hashtbl.replace primitives (Path.name path) p.Primitive.prim_name
    | None -> Hashtbl.remove primitives (Path.name path)) (path name) in
  let define_included = function
    | Types.Sig_value (id, { val_kind = Val_prim p; _ }, _) -> define (Ident.name id) (Some p)
    | Sig_value (id, _, _) -> define (Ident.name id) None
    | _ -> () in
  let in_module signature = Option.iter (fun p -> subst := Reader.global p signature !subst) !here in
  let default = Tast_iterator.default_iterator in
  let submodule name visit = inside (Option.bind name path) visit in
  let name_of id = Option.map Ident.name id in
  let in_class c visit =
    document "type" c.ci_id_name.txt c.ci_attributes;
    submodule (Some c.ci_id_name.txt) visit in
  let iterator = { default with
    structure = (fun it s -> inside !here (fun () -> in_module s.str_type; default.structure it s));
    signature = (fun it s -> inside !here (fun () -> in_module s.sig_type; default.signature it s));
    module_binding = (fun it m -> submodule (name_of m.mb_id) (fun () -> default.module_binding it m));
    module_declaration = (fun it m -> submodule (name_of m.md_id) (fun () -> default.module_declaration it m));
    module_type_declaration = (fun it m -> inside None (fun () -> default.module_type_declaration it m));
    expr = (fun it e -> inside None (fun () -> default.expr it e));
    module_expr = (fun it m -> match m.mod_desc with
      | Tmod_functor _ | Tmod_apply _ -> inside None (fun () -> default.module_expr it m)
      | _ -> default.module_expr it m);
    module_type = (fun it m -> match m.mty_desc with
      | Tmty_functor _ -> inside None (fun () -> default.module_type it m)
      | _ -> default.module_type it m);
    structure_item = (fun it i -> match i.str_desc with
      | Tstr_include included ->
        List.iter define_included included.incl_type;
        inside None (fun () -> default.structure_item it i)
      (* Later items may hide those of an included or opened structure. *)
      | Tstr_open _ -> inside None (fun () -> default.structure_item it i)
      | _ -> default.structure_item it i);
    value_description = (fun it v ->
      let name = Ident.name v.val_id in
      document "val" name v.val_attributes;
      (match v.val_val.val_kind with
       | Val_prim primitive ->
         define name (Some primitive);
         let of_type = Subst.type_expr !subst v.val_val.val_type in
         found := { name; primitive; of_type; path = path name; found_doc = doc v.val_attributes } :: !found
       | _ -> ());
      default.value_description it v);
    value_binding = (fun it b ->
      List.iter (fun id ->
        document "val" (Ident.name id) b.vb_attributes;
        define (Ident.name id) (renamed b)) (pat_bound_idents b.vb_pat);
      default.value_binding it b);
    type_declaration = (fun it d ->
      document "type" (Ident.name d.typ_id) d.typ_attributes;
      default.type_declaration it d);
    class_declaration = (fun it c -> in_class c (fun () -> default.class_declaration it c));
    class_description = (fun it c -> in_class c (fun () -> default.class_description it c));
    class_type_declaration = (fun it c -> in_class c (fun () -> default.class_type_declaration it c));
    class_type_field = (fun it f ->
      (match f.ctf_desc with Tctf_method (name, _, _, _) -> document "method" name f.ctf_attributes | _ -> ());
      default.class_type_field it f);
    class_field = (fun it f ->
      (match f.cf_desc with Tcf_method (name, _, _) -> document "method" name.txt f.cf_attributes | _ -> ());
      default.class_field it f);
    type_exception = (fun it e ->
      document "exception" (Ident.name e.tyexn_constructor.ext_id) (e.tyexn_constructor.ext_attributes @ e.tyexn_attributes);
      default.type_exception it e) } in
  let without_definition = match infos.cmt_annots with
    | Implementation s -> iterator.structure iterator s; without_definition infos.cmt_modname s
    | Interface s -> iterator.signature iterator s; []
    | Packed _ | Partial_implementation _ | Partial_interface _ -> [] in
  { unit_name = infos.cmt_modname; found = List.rev !found; docs = !docs; without_definition;
    primitives = List.of_seq (Hashtbl.to_seq primitives) }
[@@ocaml.warning "-4"]

let read file = scan (Cmt_format.read_cmt file)

(* The documentation of all items. That of an interface counts more than that of its implementation, and is in a later file. *)
let documentation scanned =
  let table = Hashtbl.create 100 in
  List.iter (fun s -> List.iter (fun (key, doc) -> Hashtbl.replace table key doc) s.docs) scanned;
  table

(* What symbols of a bound module begin with, by its Rust name, which may have a `_` at its end already. *)
let prefix m =
  let m = Names.not_raw m in
  if Filename.check_suffix m "_" then m else m ^ "_"

(* The bound module, among these Rust names, whose name is the beginning of the symbol. The symbols of the runtime and of
   boxroot belong to no module, because Rust could replace a function of theirs. *)
let owner modules symbol =
  let longest a b = compare (String.length (prefix b)) (String.length (prefix a)) in
  if List.exists (fun prefix -> Names.starts_with prefix symbol) [ "caml_"; "boxroot_"; "bxr_"; "obx_" ] then None
  else List.find_opt (fun m -> Names.starts_with (prefix m) symbol) (List.stable_sort longest modules)

(* The bound module, if any, whose name is nearly the beginning of the symbol. *)
let nearly_owner modules symbol =
  let ends = List.filter (fun i -> symbol.[i] = '_') (List.init (String.length symbol) Fun.id) in
  let beginnings = List.map (String.sub symbol 0) ends in
  let is_near m = List.exists (fun s -> Misc.spellcheck [ Names.not_raw m ] s <> []) beginnings in
  if List.mem "caml" beginnings then None else List.find_opt is_near modules

(* While a `[@@noalloc]` function runs, OCaml may keep values that the collector needs in registers; and numbers that it passes
   bare are not values. So Rust gets no token there. *)
let plain (p : Primitive.description) parameters answer =
  let is_bare repr = repr <> Primitive.Same_as_ocaml_repr in
  let bare = List.map is_bare p.prim_native_repr_args and bare_answer = is_bare p.prim_native_repr_res in
  if p.prim_alloc && not (List.mem true (bare_answer :: bare)) then None
  else begin
    let check is_bare ty = match ty with
      | Builtin (Int, []) -> ()
      | Builtin ((Float | Int32 | Int64 | Nativeint), []) when is_bare -> ()
      | Builtin ((Bool | Char | Unit), []) when not is_bare -> ()
      | _ -> Reader.unsupported "[@@noalloc], [@unboxed] and [@untagged] are for functions of int, bool, char and unit, and of unboxed \
          float, int32, int64 and nativeint" in
    List.iter2 (fun is_bare a -> check is_bare a.arg) bare parameters;
    check bare_answer answer;
    Some { bare; bare_answer }
  end
[@@ocaml.warning "-4"]

let external_ r ~given f is_own =
  let p = f.primitive in
  if p.prim_arity > 5 && not (is_own p.prim_name) then
    Reader.unsupported "its symbol for bytecode, \"%s\", does not begin with the module's name" p.prim_name;
  if not (Names.is_c_name (Reader.symbol p) && (not (is_own p.prim_name) || Names.is_c_name p.prim_name)) then
    Reader.unsupported "a symbol that is not a name in C; it may begin with the name of any bound module, so bind one whose name is ASCII";
  let given = Option.bind f.path given in
  let parameters, answer = Reader.arrows r p.prim_arity f.of_type in
  let plain = plain p parameters answer in
  (* Functions of bare numbers also have another one for bytecode. Others say something else there, such as "unavailable". *)
  let has_bytecode = p.prim_arity > 5 || (plain <> None && p.prim_native_name <> "" && is_own p.prim_name) in
  { external_ = Option.value given ~default:(if Names.is_operator f.name then Names.value f.name else f.name); ocaml_name = f.name; symbol = Reader.symbol p; parameters; answer; external_doc = f.found_doc;
    bytecode_symbol = (if has_bytecode then Some p.prim_name else None); plain;
    external_comment = Format.asprintf "external %s : %a = \"%s\"" f.name Printtyp.type_expr f.of_type (Reader.symbol p) }

(* Whether two types are one. `pairs` are the variables of both. *)
let rec same_type pairs a b = match a, b with
  | Var v, Var w -> List.for_all (fun (x, y) -> (x.id = v.id) = (y.id = w.id)) pairs
  | Builtin (x, l), Builtin (y, m) -> x = y && same_types pairs l m
  | Named (x, l), Named (y, m) -> x == y && same_types pairs l m
  | Tuple l, Tuple m -> List.map fst l = List.map fst m && same_types pairs (List.map snd l) (List.map snd m)
  | Arrow (l, r), Arrow (m, s) -> same_arguments pairs l m && same_type pairs r s
  | _ -> false
[@@ocaml.warning "-4"]

and same_types pairs l m = List.length l = List.length m && List.for_all2 (same_type pairs) l m

and same_arguments pairs l m =
  List.map (fun a -> a.arg_label) l = List.map (fun a -> a.arg_label) m
  && same_types pairs (List.map (fun a -> a.arg) l) (List.map (fun a -> a.arg) m)

let same a b =
  let variables e = unique (List.concat_map vars (List.map (fun p -> p.arg) e.parameters @ [ e.answer ])) in
  let one = variables a and other = variables b in
  a.bytecode_symbol = b.bytecode_symbol && a.plain = b.plain && List.length one = List.length other
  && (let pairs = List.combine one other in
      same_arguments pairs a.parameters b.parameters && same_type pairs a.answer b.answer)

let symbols e = e.symbol :: Option.to_list e.bytecode_symbol

(* Fails if Rust would have to define a symbol twice. *)
let check_symbols e others =
  let fail symbol a b =
    failwith (Printf.sprintf "two functions would have the symbol \"%s\":\n  %s\n  %s" symbol a b) in
  if e.bytecode_symbol = Some e.symbol then
    fail e.symbol (e.external_comment ^ " for native code") (e.external_comment ^ " for bytecode");
  List.iter (fun symbol ->
    List.iter (fun other ->
      if List.mem symbol (symbols other) then fail symbol other.external_comment e.external_comment) others) (symbols e)

(* The externals that Rust provides, each with its module, and with its path if the interface has it; and those that Rust does not
   provide. Of `others`, which may be of older sources, Rust provides none. `given` tells the name that the build
   script gives to the value of this path. *)
let externals (r : Reader.t) scanned ~given ~others modules =
  let comment f m reason =
    (m, { what = Printf.sprintf "external %s = \"%s\"" f.name (Reader.symbol f.primitive); why = reason; missed = [] }) in
  let add (provided, left_out) f =
    let left_out_of m reason = (provided, comment f m reason :: left_out) in
    match owner modules (Reader.symbol f.primitive) with
    | None ->
      (match nearly_owner modules (Reader.symbol f.primitive) with
       | None -> (provided, left_out)
       | Some m ->
         left_out_of m
           (Printf.sprintf "Rust provides symbols that begin with \"%s\"; is that a mistake?" (prefix m)))
    | Some m ->
      match external_ r ~given f (fun symbol -> owner modules symbol = Some m) with
      | exception Reader.Unsupported reason -> left_out_of m reason
      | e ->
        (* The module may hide it behind a function of the same name. *)
        let is_public p = match (Env.find_value p r.env).val_kind with
          | Val_prim p -> Reader.symbol p = Reader.symbol f.primitive
          | _ -> false
          | exception Not_found -> false in
        let path = match f.path with Some p when is_public p -> Some p | _ -> None in
        match List.find_opt (fun (_, (other, _)) -> other.symbol = e.symbol) provided with
        | None ->
          check_symbols e (List.map (fun (_, (other, _)) -> other) provided);
          ((m, (e, path)) :: provided, left_out)
        | Some (_, (other, _)) when same e other ->
          (* The last one is that of the interface. *)
          ((m, (e, path)) :: List.filter (fun (_, (o, _)) -> o.symbol <> e.symbol) provided, left_out)
        | Some (_, (other, _)) ->
          failwith (Printf.sprintf "two declarations of the symbol \"%s\" have different types:\n  %s\n  %s" e.symbol
            other.external_comment e.external_comment) in
  let provided, left_out = List.fold_left add ([], []) (List.concat_map (fun s -> s.found) scanned) in
  let of_other s =
    let reason = Printf.sprintf "the module %s is not bound, so it may have changed since OCaml compiled it; bind it, too" s.unit_name in
    List.filter_map (fun f -> Option.map (fun m -> comment f m reason) (owner modules (Reader.symbol f.primitive))) s.found in
  (List.rev provided, List.rev left_out @ List.concat_map of_other others)
