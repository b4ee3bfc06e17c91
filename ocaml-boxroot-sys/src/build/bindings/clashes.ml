(* Items that would have one name in Rust: names of one type are one item; the others get a `_`, and a comment says why. *)
open Model

(* The trait of externals. *)
let trait = "Externals"

(* What a type of this name declares in Rust. *)
let type_names d name = ("OCaml" ^ name) :: (if d.rust = Own then [ name ] else [])

(* Gives an item a name of which none of the names that it `declares` is taken. `call` gets the name and a line for its comment. *)
let claim taken what ~declares ~wanted call =
  let is_taken name = List.exists (Hashtbl.mem taken) (declares name) in
  let name = Names.free is_taken wanted in
  let other = List.find_map (Hashtbl.find_opt taken) (declares wanted) in
  List.iter (fun name -> Hashtbl.replace taken name what) (declares name);
  call name (Names.note ~wanted ~other:(Option.value other ~default:"") name)

(* A name that is made for a type without a name comes last; one that `rename` gave comes first, then one that Rust spells as OCaml does, and last one that is longer in OCaml. *)
let rank path ~default name =
  let ocaml = List.hd (List.rev (String.split_on_char '.' path)) in
  if List.mem path.[0] [ '['; '('; '<' ] then 4
  else if name <> default ocaml then 0
  else if name = ocaml || name = Compat.capitalize ocaml then 1
  else if String.contains ocaml '\'' || Filename.check_suffix ocaml "_" then 3
  else 2

let add comment note = if note = "" then comment else comment ^ "\n" ^ note

(* The items, each of one kind with a name of its own. `claimed` gives one its name, in the order of ranks. *)
let by_rank rank claimed items =
  let ranked = List.mapi (fun i item -> (rank item, i, item)) items in
  let given = List.map (fun (_, i, item) -> (i, claimed item)) (List.sort (fun (a, i, _) (b, j, _) -> compare (a, i) (b, j)) ranked) in
  List.map snd (List.sort (fun (i, _) (j, _) -> compare i j) given)

let rec resolve m =
  let taken = Hashtbl.create 50 in
  List.iter (function Module sub -> Hashtbl.replace taken sub.rust_name ("module " ^ sub.ocaml_module) | _ -> ()) m.items;
  if m.externals <> [] then Hashtbl.replace taken trait "the trait of what Rust provides";
  let values = Hashtbl.create 50 in
  let capital path name = rank path ~default:Names.camel name in
  let reexported = ref [] in
  let other_name = function
    | Reexport e ->
      let is_there = (e.declared.place = m.rust_path && e.declared.name = e.reexport) || List.mem (e.declared.ocaml, e.reexport) !reexported in
      reexported := (e.declared.ocaml, e.reexport) :: !reexported;
      if is_there then Remark (Printf.sprintf "%s\n`%s` in Rust, too" e.reexport_comment e.reexport) else Reexport e
    | item -> item in
  let type_ = function
    | Type d as item ->
      claim taken ("type " ^ d.ocaml) ~declares:(type_names d) ~wanted:d.name (fun name note ->
        d.name <- name;
        d.comment <- add d.comment note);
      item
    | Reexport e ->
      claim taken ("type " ^ e.reexport_path) ~declares:(type_names e.declared) ~wanted:e.reexport (fun name note ->
        Reexport { e with reexport = name; reexport_comment = add e.reexport_comment note })
    | Abbreviation a ->
      claim taken ("type " ^ a.alias_path) ~declares:(fun name -> [ "OCaml" ^ name ]) ~wanted:a.alias (fun name note ->
        Abbreviation { a with alias = name; alias_comment = add a.alias_comment note })
    | item -> item in
  (* `type error` and `exception Error of error` are usual. The exception is ErrorException then. *)
  let exception_ = function
    | Exception e ->
      let wanted = match Hashtbl.find_opt taken e.exception_name with
        | Some other when not (Names.starts_with "exception" other) -> e.exception_name ^ "Exception"
        | _ -> e.exception_name in
      claim taken ("exception " ^ e.exception_path) ~declares:(fun name -> [ name ]) ~wanted (fun name note ->
        Exception { e with exception_name = name; exception_comment = add e.exception_comment note })
    | item -> item in
  let value = function
    | Value v ->
      claim values ("val " ^ v.value_path) ~declares:(fun name -> [ Names.identifier name ]) ~wanted:v.value_name (fun name note ->
        Value { v with value_name = name; value_comment = add v.value_comment note })
    | item -> item in
  let rank_of = function
    | Type d -> capital d.ocaml d.name
    | Reexport e -> capital e.reexport_path e.reexport
    | Abbreviation a -> capital a.alias_path a.alias
    | Exception e -> capital e.exception_path e.exception_name
    | Value { is_made_name = true; _ } -> 4
    | Value v -> rank v.value ~default:Names.value v.value_name
    | Again _ | Module _ | Left_out _ | Remark _ -> 0 in
  let named items claimed = by_rank rank_of claimed items in
  let again = function
    | Again a when a.found_at <> None ->
      claim taken ("module " ^ a.of_module) ~declares:(fun name -> [ name ]) ~wanted:a.again (fun name note ->
        Again { a with again = name; again_comment = add a.again_comment note })
    | item -> item in
  let items = List.fold_left named (List.map other_name m.items) [ again; type_; exception_; value ] in
  let externals =
    let names = Hashtbl.create 10 in
    List.map (fun e ->
      claim names e.external_comment ~declares:(fun name -> [ Names.identifier name ]) ~wanted:e.external_ (fun name note ->
        { e with external_ = name; external_comment = add e.external_comment note })) m.externals in
  { m with items = List.map (function Module sub -> Module (resolve sub) | item -> item) items; externals }
