(* Writes Rust bindings to OCaml modules, and the OCaml module that registers what they use. The command line is bindings.rs's. *)
open Model

let digest_place = "@DIGEST@"

(* Names that build scripts use. *)
let check_known what known names =
  List.iter (fun name -> if not (List.mem name known) then begin
    let near = match Misc.spellcheck known name with [] -> known | l -> l in
    failwith (Printf.sprintf "there is no %s `%s`. There are: %s" what name (String.concat ", " (List.sort_uniq compare near)))
  end) names

let run () =
  let out_rust = ref "" and out_ocaml = ref "" and folders = ref [] and bound = ref [] and annotations = ref [] in
  let only = ref [] and opaque = ref [] and users = ref [] and prefixes = ref [] in
  let add list = Arg.String (fun s -> list := s :: !list) in
  let pair s = match String.index_opt s '=' with
    | Some i -> users := (String.sub s 0 i, String.sub s (i + 1) (String.length s - i - 1)) :: !users
    | None -> raise (Arg.Bad s) in
  Arg.parse [
    "--rust", Arg.Set_string out_rust, "FILE to write Rust to";
    "--ocaml", Arg.Set_string out_ocaml, "FILE to write OCaml to";
    "--include", add folders, "FOLDER with .cmi files";
    "--bind", add bound, "MODULE";
    "--annotations", add annotations, "FILE.cmt or .cmti";
    "--strip", add prefixes, "PREFIX of modules, which OCaml code leaves out";
    "--only", add only, "ITEM";
    "--opaque", add opaque, "TYPE";
    "--with", Arg.String pair, "TYPE=RUST a user's own Rust type" ] (fun s -> raise (Arg.Bad s)) "bindings";
  Clflags.include_dirs := List.rev !folders;
  Compmisc.init_path ();
  let env = Compmisc.initial_env () in
  let r = Reader.create env ~opaque:!opaque ~users:!users ~prefixes:!prefixes in
  let raws = List.map (Walk.bound r) (List.rev !bound) in
  let scanned = List.map Cmt.read (List.rev !annotations) in
  let selection = { Walk.only = !only; documentation = Cmt.documentation scanned } in
  Rust.check_names "the program" (List.map (fun raw -> (raw.Walk.raw_name, "module " ^ Path.name raw.path)) raws);
  List.iter (Walk.homes r selection ~own:true) raws;
  List.iter (Walk.homes r selection ~own:false) raws;
  check_known "item" (List.concat_map Walk.names raws) !only;
  let types = Hashtbl.fold (fun _ home l -> home.Reader.qualified :: l) r.homes [] in
  check_known "type that may have conversions" types (!opaque @ List.map fst !users);
  let externals, left_out = Cmt.externals r scanned (List.map (fun raw -> raw.Walk.raw_name) raws) in
  let is_external p = List.exists (fun (_, (e, _)) -> e.symbol = Cmt.symbol p) externals in
  let modules = List.map (fun (raw : Walk.raw) ->
    let mine = List.filter_map (fun (m, (e, _)) -> if m = raw.raw_name then Some e else None) externals in
    let m = Walk.items r selection ~is_external ~externals:mine raw in
    let comments = List.filter_map (fun (name, c) -> if name = raw.raw_name then Some (Comment c) else None) left_out in
    { m with items = m.items @ comments }) raws in
  let types = List.rev r.found in
  Analysis.run types;
  let modules = Walk.with_types modules types in
  let own = List.filter (fun m -> m.rust_name <> "ocaml_types") modules in
  let symbol m = Printf.sprintf "boxroot_abi_%s_%s" m.rust_name digest_place in
  let text = Buffer.create 10000 in
  List.iter (fun m ->
    let abi = if List.memq m own then Some (symbol m) else None in
    Rust.module_ text ~abi ~digest:digest_place m) modules;
  let header = "Made by the build helper of ocaml-boxroot from " ^ String.concat ", " (List.rev !bound) ^ ". Do not edit." in
  let text = "// " ^ header ^ "\n\n" ^ Buffer.contents text in
  List.iter (fun (_, comment) -> print_endline (String.concat " " (String.split_on_char '\n' comment))) left_out;
  let digest = String.sub (Digest.to_hex (Digest.string text)) 0 16 in
  let glue = Buffer.create 10000 in
  let stated = List.filter_map (fun (_, (e, path)) -> Option.map (fun p -> (p, e)) path) externals in
  Glue.print glue ~header ~abis:(List.map symbol own) ~digest:digest_place ~types ~stated own;
  let write file text =
    let channel = open_out_bin file in
    output_string channel (Names.replace digest_place digest text);
    close_out channel in
  write !out_rust text;
  write !out_ocaml (Buffer.contents glue)

let () =
  let fail message = prerr_endline message; exit 1 in
  try run () with
  | Failure message | Rust.Clash message -> fail message
  | error -> Location.report_exception Format.err_formatter error; exit 1
