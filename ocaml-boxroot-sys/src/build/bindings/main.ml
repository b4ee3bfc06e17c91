(* Writes Rust bindings to OCaml modules, and the OCaml module that registers what they use. generator.rs runs it. *)
open Model

type options = {
  rust_file : string;
  ocaml_file : string;
  folders : string list;
  bound : string list;
  if_possible : string list;  (* of these modules, those that may be left out *)
  annotations : string list;
  prefixes : string list;
  only : string list;
  opaque : string list;
  users : (string * string) list;
  names : (string * string) list;
  derives : (string * string) list;
  attributes : (string * string) list;
  ints : (string * string) list;
  rooted : string list;
  register : string option;  (* if another build compiles the program: the OCaml module that must be initialised before
                                Rust's functions accept calls *)
}

let options () =
  let rust_file = ref "" and ocaml_file = ref "" and folders = ref [] and bound = ref [] and annotations = ref [] in
  let if_possible = ref [] and prefixes = ref [] and only = ref [] and opaque = ref [] and users = ref [] and names = ref [] in
  let derives = ref [] and attributes = ref [] and ints = ref [] and rooted = ref [] in
  let register = ref None in
  let add list = Arg.String (fun s -> list := s :: !list) in
  let add_item list = Arg.String (fun s -> list := Walk.uncapitalized s :: !list) in
  let add_pair list =
    let item = ref "" in
    Arg.Tuple [ Arg.Set_string item; Arg.String (fun s -> list := (Walk.uncapitalized !item, s) :: !list) ] in
  Arg.parse [
    "--rust", Arg.Set_string rust_file, "FILE to write Rust to";
    "--ocaml", Arg.Set_string ocaml_file, "FILE to write OCaml to";
    "--include", add folders, "FOLDER with .cmi files";
    "--bind", add bound, "MODULE";
    "--if-possible", add if_possible, "MODULE that is left out if it cannot be bound";
    "--annotations", add annotations, "FILE.cmt or .cmti";
    "--strip", add prefixes, "PREFIX of modules, which OCaml code leaves out";
    "--only", add_item only, "ITEM";
    "--opaque", add_item opaque, "TYPE";
    "--with", add_pair users, "TYPE RUST a user's own Rust type";
    "--derive", add_pair derives, "TYPE TRAIT that its Rust type derives";
    "--attribute", add_pair attributes, "PART ATTRIBUTE of Rust";
    "--rooted", add_item rooted, "ARGUMENT of an external, or an external";
    "--int", add_pair ints, "PLACE INTEGER that Rust has for OCaml's ints there";
    "--register", Arg.String (fun s -> register := Some s), "MODULE that OCaml code must name";
    "--rename", add_pair names, "ITEM NAME its name in Rust" ] (fun s -> raise (Arg.Bad s)) "bindings";
  let rev list = List.rev !list in
  { rust_file = !rust_file; ocaml_file = !ocaml_file; folders = rev folders; bound = rev bound; if_possible = rev if_possible; annotations = rev annotations;
    prefixes = rev prefixes; only = rev only; opaque = rev opaque; users = rev users; names = rev names;
    derives = rev derives; attributes = rev attributes; ints = rev ints; rooted = rev rooted;
    register = !register }

(* Fails if a build script uses a name that there is not. *)
let check_known what known names =
  List.iter (fun name -> if not (List.mem name known) then begin
    let near = List.sort_uniq compare (match Misc.spellcheck known name with [] -> known | l -> l) in
    let some = List.filteri (fun i _ -> i < 30) near @ if List.length near > 30 then [ "…" ] else [] in
    failwith (Printf.sprintf "there is no %s `%s`. %s" what name (Names.there_are some))
  end) names

(* The files .cmti of modules that are bound. Those of a library have its documentation. *)
let interfaces folders modules =
  let file folder name = Filename.concat folder (name ^ ".cmti") in
  let find name =
    List.find_opt Sys.file_exists
      (List.concat_map (fun folder -> [ file folder (Compat.uncapitalize name); file folder name ]) folders) in
  List.filter_map find modules

(* What the build script gives to an item. *)
let all_of pairs item = List.filter_map (fun (name, given) -> if name = item then Some given else None) pairs

let rec exceptions m = List.concat_map (function
  | Exception e -> [ e ]
  | Module m -> exceptions m
  | Type _ | Abbreviation _ | Reexport _ | Value _ | Left_out _ | Remark _ | Again _ -> []) m.items

(* Fails if a Rust type that the build script names has no effect. *)
let check_users (r : Reader.t) =
  Hashtbl.iter (fun path home -> match Hashtbl.find_opt r.decls path, List.assoc_opt home.Reader.qualified r.users with
    | Some d, Some rust when d.rust = Marker_only && d.boxed = None ->
      failwith (Printf.sprintf "`with` names the Rust type %s for %s, which has no conversion%s" rust d.ocaml
        (match d.reason with Some reason -> ": " ^ reason | None -> ""))
    | _ -> ()) r.homes

(* The names that the build script may give attributes: of what the generator declares. *)
let check_attributes o types exceptions =
  List.iter (fun (item, attribute) -> if not (Names.is_attribute attribute) then
    failwith (Printf.sprintf "`attribute` for `%s` is not an attribute, such as #[…]: %s" item attribute)) o.attributes;
  List.iter (fun (item, path) -> if not (Names.is_path path) then
    failwith (Printf.sprintf "`derive` for `%s` is not the path of a trait: %s" item path)) o.derives;
  let own = List.filter (fun d -> d.rust = Own) types in
  let declared = List.map (fun d -> d.qualified) own @ List.map (fun e -> e.exception_qualified) exceptions in
  let parts =
    List.concat_map (fun d ->
      List.map (inside d.qualified) (constructor_names d.kind) @ List.map fst (named_kind d.qualified d.kind)) own
    @ List.concat_map (fun e -> List.map fst (named_parts e.exception_qualified e.exception_parts)) exceptions in
  check_known "generated type" declared (List.map fst o.derives);
  check_known "generated type, field or constructor" (declared @ parts) (List.map fst o.attributes)

type understood = {
  modules : module_ list;  (* with a module for the types that no bound module declares *)
  types : decl list;
  stated : (string * external_) list;  (* externals that Rust provides and that the interface has *)
  left_out : left_out list;  (* externals that Rust does not provide *)
}

let read o =
  Clflags.include_dirs := List.rev o.folders;
  (* With -rectypes: interfaces that were compiled with it are refused otherwise. Other interfaces mean the same. *)
  Clflags.recursive_types := true;
  (* The compiler searches this folder first. Without it, that would be the current folder. *)
  Compmisc.init_path ~dir:(match o.folders with first :: _ -> first | [] -> Filename.dirname o.rust_file) ();
  let r = Reader.create (Compmisc.initial_env ()) ~opaque:o.opaque ~users:o.users ~prefixes:o.prefixes in
  let taken = Walk.taken_in_crate () in
  let raws = List.filter_map (fun name ->
    try Some (Walk.bound r taken name)
    with Failure reason when List.mem name o.if_possible -> print_endline (Printf.sprintf "%s is not bound: %s" name reason); None) o.bound in
  let raws = Walk.with_parts_of_files r raws in
  let read_if_possible file = try Some (Cmt.read file) with _ -> None in
  (* If another build compiles the program, the files of modules that are not bound may be those of an older compiler. *)
  let scanned = if o.register = None then List.map Cmt.read o.annotations else List.filter_map read_if_possible o.annotations in
  List.iter (fun s -> List.iter (fun t -> Hashtbl.replace r.without_definition t ()) s.Cmt.without_definition) scanned;
  let of_libraries = interfaces (o.folders @ [ Config.standard_library ]) (List.concat_map Walk.files raws) in
  let documentation = Cmt.documentation (List.filter_map read_if_possible of_libraries @ scanned) in
  let hidden = List.concat_map (fun s -> s.Cmt.primitives) scanned in
  let selection = { Walk.only = o.only; names = o.names; documentation; hidden } in
  List.iter (Walk.homes r selection ~own:true) raws;
  List.iter (Walk.homes r selection ~own:false) raws;
  check_known "item" (List.concat_map (Walk.names r) raws) (o.only @ List.map fst o.names);
  List.iter (fun (item, rust) ->
    let is_capital = Walk.is_capital rust in
    if not (List.exists (fun raw -> List.mem item (Walk.renamable r raw ~is_capital)) raws) then
      failwith (Printf.sprintf "`rename` cannot call `%s` `%s`: there is no %s of this name. A Rust name that begins with a capital \
        letter is for a type or an exception, any other one is for a value. Modules keep their names" item rust
        (if is_capital then "type or exception" else "value"))) o.names;
  let with_home = Hashtbl.fold (fun _ home l -> home.Reader.qualified :: l) r.homes [] in
  check_known "type that may have conversions" with_home (o.opaque @ List.map fst o.users);
  (* If another build compiles the program, it may run this before it compiles a module that is not bound. *)
  let is_current s = o.register = None || List.mem s.Cmt.unit_name (List.concat_map Walk.files raws) in
  let current, others = List.partition is_current scanned in
  let given = Walk.given_to_value selection raws in
  let externals, left_out = Cmt.externals r current ~given ~others (List.map (fun raw -> raw.Walk.raw_name) raws) in
  let is_external p = List.exists (fun (_, (e, _)) -> e.symbol = Reader.symbol p) externals in
  let of_module raw l = List.filter_map (fun (name, x) -> if name = raw.Walk.raw_name then Some x else None) l in
  let modules = List.map (fun raw ->
    let m = Walk.items r selection ~is_external ~externals:(List.map fst (of_module raw externals)) raw in
    { m with items = m.items @ List.map (fun l -> Left_out l) (of_module raw left_out) }) raws in
  let types = List.rev r.found in
  Analysis.run types;
  check_users r;
  let exceptions = List.concat_map exceptions modules in
  check_attributes o types exceptions;
  let tells_serde part = List.exists (fun (item, attribute) ->
    (item = part || Names.starts_with (item ^ ".") part)
    && (Names.starts_with "#[serde(" attribute || Names.starts_with "#[cfg_attr(" attribute)) o.attributes in
  Analysis.derive ~asked:(all_of o.derives) ~tells_serde types exceptions;
  Walk.find_again modules;
  { modules = List.map Clashes.resolve (Walk.with_types modules types); types; left_out = List.map snd left_out;
    stated = List.filter_map (fun (_, (e, path)) -> Option.map (fun p -> (Walk.value_path r p, e)) path) externals }

let integers = [ "i8"; "i16"; "i32"; "i64"; "i128"; "isize"; "u8"; "u16"; "u32"; "u64"; "u128"; "usize" ]

(* Whether a name is that of a place, or of something around it. *)
let is_around name place = name = "*" || name = place || Names.starts_with (name ^ ".") place

let check_around what places asked =
  check_known what places (List.filter (fun name -> not (List.exists (is_around name) places)) asked)

(* Rust's type of the ints at a place: what the build script gives to the innermost name around it. The last call counts. *)
let int_at ints place =
  let size = function "*" -> 0 | name -> String.length name in
  let better (best, so_far) (name, int) =
    if is_around name place && size name >= size best then (name, int) else (best, so_far) in
  snd (List.fold_left better ("*", "isize") ints)

let check_ints ints places =
  List.iter (fun (name, int) -> if not (List.mem int integers) then
    failwith (Printf.sprintf "`int_as` for `%s` is the type %s, and must be one of %s" name int (String.concat ", " integers))) ints;
  check_around "`int` that Rust converts at" places (List.filter ((<>) "*") (List.map fst ints))

(* Stands for the digest, which depends on the text. *)
let digest_place = "@DIGEST@"

let write o understood =
  let header = Printf.sprintf "Made by the build helper of ocaml-boxroot from %s. Do not edit." (String.concat ", " o.bound) in
  let own = List.filter (fun m -> m.rust_name <> Reader.other_types) understood.modules in
  let symbol m = Printf.sprintf "boxroot_abi_%s_%s" (Names.c_name (Names.not_raw m.rust_name)) digest_place in
  let rust = Buffer.create 10000 and glue = Buffer.create 10000 in
  Printf.bprintf rust "// %s\n\n" header;
  Rust.missing_externals rust own;
  let ints = ref [] and arguments = ref [] in
  let noting places chosen place = places := place :: !places; chosen place in
  let labels = ref [] in
  let label_name l = match List.assoc_opt l !labels with
    | Some name -> name
    | None ->
      let name = Names.free (fun name -> List.exists (fun (_, other) -> other = name) !labels) (Names.camel l) in
      labels := (l, name) :: !labels;
      name in
  let chosen = {
    Scope.attributes = all_of o.attributes;
    int = noting ints (int_at o.ints);
    label_name;
    is_rooted = noting arguments (fun place -> List.exists (fun name -> is_around name place) o.rooted) } in
  List.iter (fun m ->
    let abi = if List.memq m own then Some (symbol m, o.register) else None in
    Rust.module_ rust ~chosen ~abi ~digest:digest_place m) understood.modules;
  Rust.labels rust (List.rev !labels);
  check_ints o.ints !ints;
  check_around "argument of an external, or external," !arguments o.rooted;
  Glue.print glue ~header ~abis:(List.map symbol own) ~digest:digest_place ~types:understood.types ~stated:understood.stated own;
  let digest = String.sub (Digest.to_hex (Digest.string (Buffer.contents rust))) 0 16 in
  let write file text =
    let channel = open_out_bin file in
    output_string channel (Names.replace digest_place digest (Buffer.contents text));
    close_out channel in
  write o.rust_file rust;
  write o.ocaml_file glue

let () =
  let fail message = prerr_endline message; exit 1 in
  try
    let o = options () in
    let understood = read o in
    write o understood;
    (* The build script shows these as warnings. *)
    List.iter (fun l -> print_endline (String.concat " " (String.split_on_char '\n' (about l)))) understood.left_out
  with
  | Failure message -> fail message
  | error -> Location.report_exception Format.err_formatter error; exit 1
