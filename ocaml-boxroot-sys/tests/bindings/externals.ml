(* Prints the functions of OCaml's libraries that C code or OCaml's compiler implements: the primitives of the standard library,
   even those that its interfaces hide, and all values of the other libraries, whose implementations are not installed as .cmt
   files. *)
open Types

let rec print ~holds file path l =
  List.iter (function
    | Sig_value (id, v, _) ->
      let name = path ^ Ident.name id in
      if holds name v then Printf.printf "%s: %s\n" file name
    | Sig_module (id, _, { md_type = Mty_signature l; _ }, _, _) -> print ~holds file (path ^ Ident.name id ^ ".") l
    | _ -> ()) l

let rec primitives path (s : Typedtree.structure) =
  List.concat_map (fun (i : Typedtree.structure_item) -> match i.str_desc with
    | Tstr_primitive v -> [ path ^ Ident.name v.val_id ]
    | Tstr_module { mb_id = Some id; mb_expr; _ } ->
      let rec inside (e : Typedtree.module_expr) = match e.mod_desc with
        | Tmod_structure s -> primitives (path ^ Ident.name id ^ ".") s
        | Tmod_constraint (e, _, _, _) -> inside e
        | _ -> [] in
      inside mb_expr
    | _ -> []) s.str_items

let hidden cmt = match (Cmt_format.read_cmt cmt).cmt_annots with
  | Implementation s -> primitives "" s
  | _ -> []

let files folder holds = if Sys.file_exists folder then
  Array.iter (fun file -> match Filename.chop_suffix_opt ~suffix:".cmi" file with
    (* The modules with labels have the same functions. *)
    | Some name when not (String.ends_with ~suffix:"Labels" name) ->
      Option.iter (fun holds ->
        let c = Cmi_format.read_cmi (Filename.concat folder file) in
        print ~holds c.cmi_name "" c.cmi_sign) (holds name)
    | _ -> ()) (Sys.readdir folder)

let () =
  let library = Config.standard_library in
  let all _ = Some (fun _ _ -> true) in
  let primitives name =
    let hidden = hidden (Filename.concat library (name ^ ".cmt")) in
    Some (fun name v -> match v.val_kind with Val_prim _ -> true | _ -> List.mem name hidden) in
  (* OCaml 4 also has other libraries in this folder. *)
  let others = [ "unix"; "str"; "thread"; "threadUnix"; "event" ] in
  files library (fun name ->
    if String.starts_with ~prefix:"stdlib" name then primitives name
    else if List.mem name others then all name
    else None);
  List.iter (fun name -> files (Filename.concat library name) all) [ "unix"; "threads"; "str" ]
