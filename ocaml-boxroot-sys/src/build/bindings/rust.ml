(* Prints Rust. *)
open Model
open Scope

let out scope fmt = Printf.ksprintf (Buffer.add_string scope.text) fmt

let indented text =
  let line l = if l = "" then l else "    " ^ l in
  String.concat "\n" (List.map line (String.split_on_char '\n' text))

(* ---- Comments ---- *)

let lines s = List.filter (fun l -> String.trim l <> "") (String.split_on_char '\n' s)

let comment scope indent s = List.iter (fun l -> out scope "%s// %s\n" indent l) (lines s)

(* rustc's message about an item that it does not find shows an item of that name with a `cfg`. *)
let left_out scope l =
  comment scope "" (about l);
  let why = Names.replace "\"" "\\\"" (Names.replace "\\" "\\\\" l.why) in
  List.iter (fun item -> out scope "#[cfg(left_out = \"%s\")]\n%s\n" why item) l.missed;
  out scope "\n"

(* `{@ocaml[ code ]}` as `{[ code ]}`. *)
let rec without_languages s =
  let at i = Names.is_at s i "{@" in
  match List.find_opt at (List.init (String.length s) Fun.id) with
  | None -> s
  | Some i -> match String.index_from_opt s i '[' with
    | None -> s
    | Some bracket -> String.sub s 0 i ^ "{" ^ without_languages (String.sub s bracket (String.length s - bracket))

(* OCaml's documentation as Markdown: [code], {!name} and {[ code ]} become code. *)
let markdown s =
  let s = without_languages (String.map (function '\r' -> ' ' | c -> c) s)
    |> Names.replace "{[" "\n```text\n" |> Names.replace "]}" "\n```\n" in
  let b = Buffer.create 100 in
  let is_block = ref false and is_link = ref false and brackets = ref 0 in
  let mark () = if !brackets = 0 then Buffer.add_char b '`' in
  String.iteri (fun i c ->
    if Names.is_at s i "```" then is_block := not !is_block;
    match c with
    | '[' when not !is_block -> if !brackets > 0 then Buffer.add_char b c else mark (); incr brackets
    | ']' when !brackets > 0 -> decr brackets; if !brackets > 0 then Buffer.add_char b c else mark ()
    | '{' when Names.is_at s i "{!" -> is_link := true
    | ('!' | '}') when !is_link -> is_link := c = '!'; mark ()
    | c -> Buffer.add_char b c) s;
  Buffer.contents b

(* Code is not Rust, so that rustdoc does not test it: a fence without a language gets one. *)
let with_languages lines =
  let fence = ref "" in
  List.map (fun l ->
    let marks = if Names.is_at l 0 "```" then "```" else if Names.is_at l 0 "~~~" then "~~~" else "" in
    let is_bare = marks <> "" && String.for_all (fun c -> c = marks.[0]) l in
    if !fence = "" then (fence := marks; if is_bare then l ^ "text" else l)
    else (if is_bare && marks = !fence then fence := ""; l)) lines

let doc scope indent = function
  | None -> ()
  | Some s ->
    let lines = List.map String.trim (String.split_on_char '\n' (String.trim (markdown s))) in
    List.iter (fun l -> out scope "%s///%s\n" indent (if l = "" then "" else " " ^ l)) (with_languages lines)

(* ---- Types ---- *)

(* The attributes of a type. Attributes from the build script may belong to traits that it derives. *)
let attributes scope ~place derives =
  out scope "#[derive(%s)]\n" (String.concat ", " derives);
  List.iter (out scope "%s\n") (scope.chosen.attributes place)

(* The names of fields and of constructors in Rust. *)
let field_names l = Names.distinct Names.identifier (List.map (fun f -> f.label) l)
let rust_constructors l = Names.distinct Names.camel (List.map (fun c -> c.constructor) l)

(* Says which fields and constructors have other names than Rust's spelling of OCaml's, because others have those. *)
let clashing_parts scope kind =
  let notes what rust names given = List.iter2 (fun name given ->
    if rust name <> given then comment scope "" (Printf.sprintf "the %s %s is `%s` in Rust: another one is `%s`" what name given (rust name)))
    names given in
  let fields = function
    | Labelled l -> notes "field" Names.identifier (List.map (fun f -> f.label) l) (field_names l)
    | Positional _ -> () in
  match kind with
  | Record (l, _) -> fields (Labelled l)
  | Unboxed (_, parts) -> fields parts
  | Variant l | Row l ->
    notes "constructor" Names.camel (List.map (fun c -> c.constructor) l) (rust_constructors l);
    List.iter (fun c -> fields c.parts) l
  | Opaque -> ()

(* The Rust declaration of a constructor's parts, or of a record's fields. `place` is what build scripts call the constructor. *)
let parts_decl scope ~place ~visibility ty parts =
  let part (place, t) name = String.concat " " (scope.chosen.attributes place @ [ visibility ^ name ^ ty place t ]) in
  let parts_of names = String.concat ", " (List.map2 part (named_parts place parts) names) in
  match parts with
  | Positional [] -> ""
  | Positional l -> "(" ^ parts_of (List.map (fun _ -> "") l) ^ ")"
  | Labelled l -> " { " ^ parts_of (List.map (fun name -> name ^ ": ") (field_names l)) ^ " }"

(* The parts for the macro, which needs a number and a name for each: ` (0 a0: MARKER, …)` or ` { 0 label: MARKER, … }`. *)
let parts_macro marker parts =
  let numbered l = String.concat ", " (List.mapi (fun i (name, t) -> Printf.sprintf "%d %s: %s" i name (marker t)) l) in
  match parts with
  | Positional [] -> ""
  | Positional l -> " (" ^ numbered (List.mapi (fun i t -> (Printf.sprintf "a%d" i, t)) l) ^ ")"
  | Labelled l -> " { " ^ numbered (List.map2 (fun f name -> (name, f.ty)) l (field_names l)) ^ " }"

let tag = function
  | Constant n | Hash n -> Printf.sprintf "= %d" n
  | Block n -> Printf.sprintf "block %d" n
  | Tagged n -> Printf.sprintf "tagged %d" n

let own_type scope d position =
  let parameter v = if d.has_markers then variable position.names v else position.var v in
  let name = d.name ^ generics (List.map parameter d.used) in
  let ty place = natural scope { position with called = Some place } in
  let constructor name c parts =
    let place = inside d.qualified c in
    let words = scope.chosen.attributes place @ [ name ^ parts_decl scope ~place ~visibility:"" ty parts ] in
    out scope "    %s,\n" (String.concat " " words) in
  attributes scope ~place:d.qualified d.derives;
  match d.kind with
  | Record (l, _) | Unboxed (None, Labelled l) ->
    out scope "pub struct %s {\n" name;
    List.iter2 (fun f name ->
      let place = inside d.qualified f.label in
      List.iter (out scope "    %s\n") (scope.chosen.attributes place);
      out scope "    pub %s: %s,\n" name (ty place f.ty)) l (field_names l);
    out scope "}\n"
  | Variant l | Row l ->
    out scope "pub enum %s {\n" name;
    List.iter2 (fun c name -> constructor name c.constructor c.parts) l (rust_constructors l);
    out scope "}\n"
  | Unboxed (Some c, parts) ->
    out scope "pub enum %s {\n" name;
    constructor (Names.camel c) c parts;
    out scope "}\n"
  | Unboxed (None, Positional l) ->
    List.iter (fun t -> out scope "pub struct %s {\n    pub value: %s,\n}\n" name (ty (inside d.qualified "0") t)) l
  | Opaque -> ()

(* A marker that is no `OneType`, unlike those of `bound_type!`. *)
let marker_of_any scope d name parameters =
  let never = imported scope "std" "convert::" "Infallible" in
  let phantom = imported scope "std" "marker::" "PhantomData" in
  let parameter a = Printf.sprintf "(%s, fn(%s) -> %s)," a a a in
  let parameters = String.concat " " (List.map parameter parameters) in
  comment scope "" "its values may be of any type, so it stands for no type variable";
  doc scope "" d.doc;
  out scope "#[derive(Debug)]\npub struct %s(%s, %s<(%s)>);\n" name never phantom parameters

let type_ scope d =
  let names = variables scope d.params in
  let var v = if d.has_markers then root scope names (Var v) else "R" ^ variable names v in
  let position = { names; to_ocaml = true; circle = d.circle; called = None; var } in
  let marker_of = marker scope names in
  let name = "OCaml" ^ d.name ^ generics (List.map snd names) in
  comment scope "" d.comment;
  clashing_parts scope d.kind;
  Option.iter (fun reason -> comment scope "" ("has no conversion: " ^ reason)) d.reason;
  if d.rust = Own then (doc scope "" d.doc; own_type scope d position);
  let for_ = match d.rust with
    | Marker_only -> ""
    | Own | User _ ->
      let path = match d.rust with User path -> path | _ -> d.name in
      let parameter v = Printf.sprintf "%s as R%s" (variable names v) (variable names v) in
      if d.has_markers && d.used <> [] then Printf.sprintf " for %s[%s]" path (String.concat ", " (List.map (variable names) d.used))
      else Printf.sprintf " for %s%s" path (generics (List.map parameter d.used)) in
  let visibility = if d.is_private && d.rust <> Marker_only then "pub private" else "pub" in
  let bound fmt = out scope "::ocaml_boxroot::bound_type! {\n"; doc scope "    " d.doc; out scope "    "; out scope fmt in
  (match d.kind with
   | Opaque when d.is_any -> marker_of_any scope d name (List.map snd names)
   | Opaque -> (match d.boxed with
     | Some rust -> bound "pub boxed %s for %s\n}\n" name rust
     | None -> bound "pub abstract %s\n}\n" name)
   | Record (l, form) ->
     bound "%s %s %s%s {\n" visibility (match form with `Flat -> "flat" | _ -> "record") name for_;
     List.iteri (fun i (f, name) -> out scope "        %d %s: %s,\n" i name (marker_of f.ty)) (List.combine l (field_names l));
     out scope "    }\n}\n"
   | Variant l | Row l ->
     bound "%s variant %s%s {\n" visibility name for_;
     List.iter2 (fun c name ->
       out scope "        %s %s%s,\n" name (tag c.tag) (parts_macro marker_of c.parts)) l (rust_constructors l);
     out scope "    }\n}\n"
   | Unboxed (constructor, parts) ->
     let is_float = List.exists (fun t -> Analysis.floatness t = `Float) (parts_types parts) in
     let parts = match constructor, parts with
       | None, Positional [ t ] -> Printf.sprintf " { 0 value: %s }" (marker_of t)
       | _ -> parts_macro marker_of parts in
     let parts = match constructor with Some c -> Printf.sprintf " { %s%s }" (Names.camel c) parts | None -> parts in
     bound "%s unboxed %s%s%s is_float %b\n}\n" visibility name for_ parts is_float);
  out scope "\n"

let abbreviation scope a =
  let names = variables scope a.alias_params in
  comment scope "" a.alias_comment;
  let means = marker scope names a.means in
  let unused = List.filter (fun v -> not (mem v (vars a.means))) a.alias_params in
  let means = if unused = [] then means
    else Printf.sprintf "<%s as ::ocaml_boxroot::macro_support::Ignoring<%s>>::Itself" means (tuple (List.map (variable names) unused)) in
  out scope "pub type OCaml%s%s = %s;\n\n" a.alias (generics (List.map snd names)) means

(* ---- Functions ---- *)

(* The names of arguments in `[reserve stock order]`, if the documentation has such code with one word for each argument, or one
   for each argument without a label. *)
let documented_names function_ doc arguments =
  let words s = List.filter ((<>) "") (String.split_on_char ' ' (String.map (function '\n' -> ' ' | c -> c) s)) in
  let is_label word = word.[0] = '~' || word.[0] = '?' in
  let plain word = if is_label word then String.sub word 1 (String.length word - 1) else word in
  let rec among arguments words = match arguments, words with
    | { arg_label = Asttypes.Nolabel; _ } :: arguments, word :: words -> word :: among arguments words
    | _ :: arguments, words -> "" :: among arguments words
    | [], _ -> [] in
  let count_plain = List.length (List.filter (fun a -> a.arg_label = Asttypes.Nolabel) arguments) in
  let names code = match words (List.hd (String.split_on_char ']' code)) with
    | name :: rest when name = function_ ->
      let without_labels = List.filter (fun w -> not (is_label w)) rest in
      if List.compare_lengths rest arguments = 0 then Some (List.map plain rest)
      else if List.length without_labels = count_plain then Some (among arguments without_labels)
      else None
    | _ -> None in
  Option.value (List.find_map names (String.split_on_char '[' (Option.value doc ~default:""))) ~default:[]

(* Whether a word of documentation, which may be anything, can be the name of an argument. *)
let is_name s = s <> "" && (match s.[0] with 'a' .. 'z' -> true | _ -> false)
  && Names.is_c_name s

(* A name that a type suggests. *)
let name_of_type = function
  | Named ({ form = Object _; _ }, _) -> None
  | Named (d, _) when d.ocaml.[0] = '[' -> None
  | Named ({ form = Package (path, _); _ }, _) -> Some (Names.snake (List.hd (List.rev (String.split_on_char '.' path))))
  | Named (d, _) when d.name = "T" -> Some (List.nth d.place (List.length d.place - 1))
  | Named (d, _) -> Some (Names.snake d.name)
  | Arrow _ -> Some "f"
  | Builtin (List, _) -> Some "list"
  | Builtin (Array, _) -> Some "array"
  | Builtin (Seq, _) -> Some "seq"
  | Builtin (Hashtbl, _) -> Some "hashtbl"
  | Builtin (Ref, _) -> Some "reference"
  | Builtin (Lazy, _) -> Some "lazy"
  | Builtin (Map, _) -> Some "map"
  | Builtin (Set, _) -> Some "set"
  | Builtin (Bigarray name, _) -> Some (Names.snake name)
  | _ -> None
[@@ocaml.warning "-4"]

(* Different names, none of which is the token's. *)
let argument_names documented arguments =
  let labels = List.filter_map (fun a -> match a.arg_label with
    | Asttypes.Labelled s | Optional s -> Some s | Nolabel -> None) arguments in
  let name taken i a =
    let plain = match a.arg_label, List.nth_opt documented i with
      | (Asttypes.Labelled s | Optional s), _ -> s
      | Nolabel, Some s when is_name s && not (List.mem s labels) -> s
      | Nolabel, _ -> Option.value (name_of_type a.arg) ~default:(Printf.sprintf "arg%d" i) in
    Names.free (fun s -> s = "lock" || List.mem s taken) (Names.identifier plain) in
  List.rev (List.fold_left (fun (i, names) a -> (i + 1, name names i a :: names)) (0, []) arguments |> snd)

let is_left_out_unit a = match a with
  | { arg_label = Asttypes.Nolabel; arg = Builtin (Unit, _) } -> true
  | _ -> false

let function_vars arguments result = unique (List.concat_map vars (List.map (fun a -> a.arg) arguments @ [ result ]))

(* The Rust type of an argument of a function of Rust, or of a result, if it is not a root. `place` is what build scripts call
   it. *)
let converted scope ~to_ocaml ~place names ty = match ty with
  | Var _ -> None
  | _ when Analysis.is_root ~to_ocaml ty -> None
  | _ -> Some (natural scope (in_function scope ~to_ocaml ~place:(Some place) names) ty)

let is_optional a = match a.arg_label with Asttypes.Optional _ -> true | Labelled _ | Nolabel -> false

(* The type of an optional argument. *)
let optional scope v names name a =
  let place = inside v.value_qualified (Names.not_raw name) in
  natural scope (in_function scope ~to_ocaml:true ~place:(Some place) names) a.arg

(* A function of OCaml, or a value: its name in Rust, and the Rust type of its result. *)
let function_ scope ~digest v names arguments doc (name, rust) =
  let argument (name, a) =
    if is_left_out_unit a then "(): ()"
    else Printf.sprintf "%s: %s%s" name (marker scope names a.arg)
      (if is_optional a then " as " ^ optional scope v names name a else "") in
  let arguments = if arguments = [] then "" else Printf.sprintf "(%s)" (String.concat ", " (List.map argument arguments)) in
  out scope "::ocaml_boxroot::ocaml_functions! { generated\n";
  doc scope "    ";
  out scope "    pub %sfn %s%s%s -> %s as %s = \"%s#%s\"\n}\n\n" (if v.is_unsafe then "unsafe " else "")
    name (generics (List.map snd names)) arguments (marker scope names v.result) rust (Names.registered v.value_path) digest

(* Whether Rust has a struct for the optional arguments, which are many. It has no parameters. *)
let has_options v =
  let optional = List.filter is_optional v.arguments in
  List.compare_length_with optional 3 >= 0 && not v.is_unsafe && List.concat_map (fun a -> vars a.arg) optional = []

let options_struct scope v names name ~options fields =
  let derives = if List.exists (fun (_, a) -> Analysis.has_root a.arg) fields then "Debug, Default"
    else "Clone, Debug, Default, PartialEq" in
  out scope "/// The optional arguments of [`%s`].\n#[derive(%s)]\npub struct %s {\n" name derives options;
  List.iter (fun (name, a) -> out scope "    pub %s: %s,\n" name (optional scope v names name a)) fields;
  out scope "}\n\n"

(* A function whose last argument is that struct. It calls one that takes all arguments, in the module `flat`. *)
let with_options scope names arguments ~flat ~options doc (name, rust) =
  let library = imported scope "ocaml_boxroot" "" in
  let last = Names.free (fun s -> s = "lock" || List.mem_assoc s arguments) "options" in
  let arguments = List.filter (fun (_, a) -> not (is_left_out_unit a)) arguments in
  let parameter (name, a) =
    if is_optional a then "" else Printf.sprintf "    %s: impl %s<%s>,\n" name (library "ToOCaml") (marker scope names a.arg) in
  let passed (name, a) = if is_optional a then last ^ "." ^ name else name in
  doc scope "";
  out scope "#[inline]\n#[track_caller]\npub fn %s%s(\n    lock: &mut %s,\n%s    %s: %s,\n) -> %s<%s, %s> {\n"
    name (generics (List.map (fun (_, a) -> a ^ ": " ^ ocaml_boxroot scope "OneType") names)) (library "DomainLock")
    (String.concat "" (List.map parameter arguments)) last options (std scope "Result" "::std::result::Result") rust (library "CallError");
  out scope "    %s::%s(%s)\n}\n\n" flat name (String.concat ", " ("lock" :: List.map passed arguments))

let value scope ~options ~root_name ~digest v =
  let names = variables scope (function_vars v.arguments v.result) in
  let documented = if v.is_method then "" :: documented_names v.value v.value_doc (List.tl v.arguments)
    else documented_names v.value v.value_doc v.arguments in
  let arguments = List.combine (argument_names documented v.arguments) v.arguments in
  let name = Names.identifier v.value_name in
  (* The functions, of which the second one returns a root. Each has its name and the Rust type of its result. *)
  let functions scope =
    let place = if v.arguments = [] then v.value_qualified else inside v.value_qualified "result" in
    let rooted = root scope names v.result in
    match converted scope ~to_ocaml:false ~place names v.result with
    | None -> [ (name, rooted) ]
    | Some natural when v.result = Builtin (Unit, []) -> [ (name, natural) ]
    | Some natural -> [ (name, natural); (root_name, rooted) ] in
  let documentation (other, _) scope indent =
    if other = name then doc scope indent v.value_doc
    else out scope "%s/// As [`%s`], but returns a root.\n" indent name in
  comment scope "" v.value_comment;
  match options with
  | None -> List.iter (fun f -> function_ scope ~digest v names arguments (documentation f) f) (functions scope)
  | Some options ->
    options_struct scope v names name ~options (List.filter (fun (_, a) -> is_optional a) arguments);
    let flat = Names.free (fun s -> List.mem s scope.taken) ("flat_" ^ v.value_name) in
    List.iter (fun f -> with_options scope names arguments ~flat ~options (documentation f) f) (functions scope);
    let inside = { scope with path = scope.path @ [ flat ]; text = Buffer.create 1000 } in
    List.iter (function_ inside ~digest v names arguments (fun _ _ -> ())) (functions inside);
    scope.imports <- inside.imports;
    out scope "mod %s {\n    use super::*;\n\n%s\n}\n\n" flat (indented (String.trim (Buffer.contents inside.text)))

(* ---- Exceptions ---- *)

let exception_ scope ~digest e =
  let name = e.exception_name in
  let ty place = natural scope (in_function scope ~to_ocaml:true ~place:(Some place) []) in
  comment scope "" e.exception_comment;
  doc scope "" e.exception_doc;
  let place = e.exception_qualified in
  attributes scope ~place e.exception_derives;
  out scope "pub struct %s%s%s\n" name
    (parts_decl scope ~place ~visibility:"pub " ty e.exception_parts)
    (match e.exception_parts with Positional _ -> ";" | Labelled _ -> "");
  out scope "::ocaml_boxroot::bound_exception! {\n    %s%s = \"%s#%s\"\n}\n\n" name
    (parts_macro (marker scope []) e.exception_parts) e.exception_path digest

(* ---- Externals ---- *)

(* The declaration for the macro, and the one that the program writes. *)
let external_ scope m e =
  let names = variables scope (function_vars e.parameters e.answer) in
  let place = inside m.module_qualified e.ocaml_name in
  let indent = match e.plain with Some _ -> "            " | None -> "        " in
  (* Types for the macro, and in Rust. *)
  let passed is_bare ty =
    let rust = natural scope (in_function scope ~to_ocaml:true ~place:None names) ty in
    (Printf.sprintf "@%s %s as %s" (if is_bare then "bare" else "tagged") (marker scope names ty) rust, rust) in
  let converted_or root ~to_ocaml ~place ty =
    let marker = marker scope names ty in
    match if not to_ocaml && scope.chosen.is_rooted place then None else converted scope ~to_ocaml ~place names ty with
    | Some rust -> (marker ^ " as " ^ rust, rust)
    | None when to_ocaml && is_labelled ty ->
      let rust = Scope.root scope names ty in
      (marker ^ " as " ^ rust, rust)
    | None -> (marker, Printf.sprintf "%s<%s>" root marker) in
  let parameter name i a =
    if is_left_out_unit a then ("(): ()", None)
    else
      let macro, rust = match e.plain with
        | Some p -> passed (List.nth p.bare i) a.arg
        | None -> converted_or "&RootRef" ~to_ocaml:false ~place:(inside place (Names.not_raw name)) a.arg in
      (Printf.sprintf "%s: %s" name macro, Some (Printf.sprintf "%s: %s" name rust)) in
  let parameters = List.mapi (fun i (name, a) -> parameter name i a)
    (List.combine (argument_names (documented_names e.ocaml_name e.external_doc e.parameters) e.parameters) e.parameters) in
  let result, rust_result = match e.plain with
    | Some p -> passed p.bare_answer e.answer
    | None -> converted_or "Boxroot" ~to_ocaml:true ~place:(inside place "result") e.answer in
  comment scope indent e.external_comment;
  doc scope indent e.external_doc;
  out scope "%sfn %s%s = \"%s\"%s (%s) -> %s;\n" indent (Names.identifier e.external_) (generics (List.map snd names)) e.symbol
    (match e.bytecode_symbol with Some s -> Printf.sprintf " \"%s\"" s | None -> "")
    (String.concat ", " (List.map fst parameters)) result;
  let given = List.filter_map snd parameters in
  let parameters, result = match e.plain with
    | Some _ -> (given, rust_result)
    | None -> ("lock: &mut DomainLock" :: given, Printf.sprintf "Result<%s, Box<dyn Error>>" rust_result) in
  Printf.sprintf "fn %s%s(%s) -> %s" (Names.identifier e.external_)
    (generics (List.map (fun (_, a) -> a ^ ": OneType") names)) (String.concat ", " parameters) result

(* Lines that import what signatures name. *)
let imports_of scope signatures =
  let text = String.concat " " signatures in
  let words = String.split_on_char ' ' (String.map (function 'A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | '_' as c -> c | _ -> ' ') text) in
  let name path = List.hd (List.rev (String.split_on_char ':' path)) in
  let named = List.filter (fun path -> List.mem (name path) words) in
  let ours = List.filter_map (fun (crate, path) -> if crate = "ocaml_boxroot" then Some path else None) scope.imports in
  let ours = named (List.sort_uniq compare ("DomainLock" :: "markers::OneType" :: ours)) in
  let error = List.map (fun path -> "std::error::" ^ path) (named [ "Error" ]) in
  let boxroot = if ours = [] then [] else [ Printf.sprintf "ocaml_boxroot::{%s}" (String.concat ", " ours) ] in
  ((String.concat "::" scope.path ^ "::*") :: boxroot) @ error

let externals scope m =
  if m.externals <> [] then begin
    let up = String.concat "" (List.map (fun _ -> "super::") scope.path) in
    let inside = { scope with text = Buffer.create 1000 } in
    let plain, others = List.partition (fun e -> e.plain <> None) m.externals in
    let signatures = List.map (external_ inside m) others in
    if plain <> [] then out inside "        plain {\n";
    let signatures = signatures @ List.map (external_ inside m) plain in
    if plain <> [] then out inside "        }\n";
    scope.imports <- inside.imports;
    out scope "::ocaml_boxroot::bound_externals! {\n    /// What OCaml's module wants of Rust. To begin with:\n    ///\n";
    out scope "    /// ```ignore\n";
    List.iter (fun path -> out scope "    /// use %s;\n" path) (imports_of inside signatures);
    out scope "    ///\n    /// impl %s::Externals for Provider {\n" (String.concat "::" scope.path);
    List.iter (fun s -> out scope "    ///     %s { todo!() }\n" s) signatures;
    out scope "    /// }\n    /// ```\n";
    out scope "    #[diagnostic::on_unimplemented(\n        message = \"Rust does not provide what OCaml's module %s wants\",\n"
      m.ocaml_module;
    out scope "        note = \"write `include_bindings!(%s: Provider)`, with a type of yours, and implement `%s::Externals` for it\"\n"
      m.rust_name m.rust_name;
    out scope "    )]\n";
    out scope "    pub trait Externals for %socaml_externals::%s {\n" up m.rust_name;
    Buffer.add_buffer scope.text inside.text;
    out scope "    }\n}\n\n"
  end

(* For the modules that `include_bindings!` does not name: types that provide nothing. *)
let missing_externals text modules =
  let wanting = List.filter (fun m -> m.externals <> []) modules in
  Printf.bprintf text "/// Stands for the types that `include_bindings!` does not name.\n#[allow(dead_code, non_camel_case_types)]\n";
  Printf.bprintf text "mod ocaml_externals_missing {\n";
  List.iter (fun m -> Printf.bprintf text "    pub struct %s;\n" m.rust_name) wanting;
  Printf.bprintf text "}\n\n"

(* The labels of arguments, in the order in which they were found: each with its name in Rust. *)
let labels text found =
  if found <> [] then begin
    Printf.bprintf text "/// Labels of OCaml's functions, for markers.\n#[allow(dead_code)]\npub mod %s {\n" Scope.labels;
    List.iter (fun (label, name) -> Printf.bprintf text "    /// `%s`\n    #[derive(Debug)]\n    pub enum %s {}\n\n" label name) found;
    Printf.bprintf text "}\n\n"
  end

(* ---- Modules ---- *)

let allowed = "dead_code, missing_docs, missing_debug_implementations, non_camel_case_types, non_snake_case, \
  non_upper_case_globals, unexpected_cfgs, unreachable_pub, unused_imports, unused_qualifications, clippy::all, clippy::pedantic, rustdoc::all"

let reexport scope { declared = d; reexport = name; reexport_comment; _ } =
  comment scope "" reexport_comment;
  let place = if d.place = scope.path then "self::" else item scope d.place "" in
  let line before after = out scope "pub use %s%s%s;\n" place before (if before = after then "" else " as " ^ after) in
  line ("OCaml" ^ d.name) ("OCaml" ^ name);
  if d.rust = Own then line d.name name;
  out scope "\n"

(* Another name of a module. *)
let again scope a = match a.found_at with
  | None -> left_out scope { what = a.again_comment; why = a.otherwise; missed = [ Printf.sprintf "pub mod %s {}" a.again ] }
  | Some place ->
    comment scope "" a.again_comment;
    match List.rev place with
    | [] -> assert false
    | name :: around ->
      let path = item scope (List.rev around) name in
      let path = if Names.starts_with "self::" path || Names.starts_with "super::" path then path else "self::" ^ path in
      (* With `self`, this is the module alone, and not also a function of this name. *)
      out scope "pub use %s::{self%s};\n\n" path (if name = a.again then "" else " as " ^ a.again)

(* The names of types, traits and modules. *)
let declared m = List.concat_map (function
  | Type d -> Clashes.type_names d d.name
  | Reexport e -> Clashes.type_names e.declared e.reexport
  | Abbreviation a -> [ "OCaml" ^ a.alias ]
  | Exception e -> [ e.exception_name ]
  | Module m -> [ m.rust_name ]
  | Again a -> [ a.again ]
  | Value _ | Left_out _ | Remark _ -> []) m.items
  @ if m.externals <> [] then [ Clashes.trait ] else []

let rec module_ text ~chosen ~abi ~digest m =
  let values = Hashtbl.create 50 in
  List.iter (function Value v -> Hashtbl.replace values v.value_name () | _ -> ()) m.items;
  let taken = declared m in
  let options = List.fold_left (fun options -> function
    | Value v when has_options v ->
      let is_taken name = List.mem name taken || List.exists (fun (_, other) -> other = name) options in
      (v.value_name, Names.free is_taken (Names.camel v.value_name ^ "Options")) :: options
    | _ -> options) [] m.items in
  let scope = { path = m.rust_path; taken = taken @ List.map snd options; imports = []; text = Buffer.create 1000; chosen } in
  let root_name v = Names.free (Hashtbl.mem values) (v.value_name ^ "_root") in
  let subs = Buffer.create 1000 in
  List.iter (function
    | Type d -> type_ scope d
    | Reexport e -> reexport scope e
    | Abbreviation a -> abbreviation scope a
    | Remark s -> comment scope "" s; out scope "\n"
    | Again a -> again scope a
    | Left_out l -> left_out scope l
    | Value v -> value scope ~options:(List.assoc_opt v.value_name options) ~root_name:(root_name v) ~digest v
    | Exception e -> exception_ scope ~digest e
    | Module m -> module_ subs ~chosen ~abi:None ~digest m) m.items;
  externals scope m;
  let inside = Buffer.create 1000 in
  let add fmt = Printf.ksprintf (Buffer.add_string inside) fmt in
  List.iter (fun crate ->
    match List.filter (fun (from, _) -> from = crate) scope.imports with
    | [] -> ()
    | l -> add "use ::%s::{%s};\n\n" crate (String.concat ", " (List.sort compare (List.map snd l)))) [ "ocaml_boxroot"; "std" ];
  Option.iter (fun (symbol, register) ->
    let needs = match register with Some name -> Printf.sprintf " needs \"%s\"" name | None -> "" in
    add "::ocaml_boxroot::bound_abi! { \"%s\"%s }\n\n" symbol needs) abi;
  Buffer.add_buffer inside scope.text;
  Buffer.add_buffer inside subs;
  if m.module_comment <> "" then Printf.bprintf text "// %s\n" m.module_comment;
  if List.length m.rust_path = 1 then Printf.bprintf text "#[allow(%s)]\n" allowed;
  Printf.bprintf text "pub mod %s {\n%s\n}\n\n" m.rust_name (indented (String.trim (Buffer.contents inside)))
