(* Decisions about the functions of OCaml's libraries. unsafe_functions.txt has the list of those that are unsafe. *)

(* Modules whose functions take or make values of any type. *)
let excluded = [ "Stdlib__Obj"; "Stdlib__Marshal"; "Stdlib__Callback"; "CamlinternalLazy"; "CamlinternalMod"; "CamlinternalOO" ]

(* The names in the list that count for this version of OCaml. *)
let unsafe_names =
  let version = if Sys.ocaml_version.[0] = '4' then "ocaml4" else "ocaml5" in
  let names line = match String.split_on_char ' ' line with
    | versions :: names when versions = "all" || versions = version -> names
    | _ -> [] in
  List.concat_map names (String.split_on_char '\n' (Names.replace "\n " " " Unsafe_functions.text))

(* Whether this name matches a name in the list, which may have a `*`. *)
let is_named pattern name = match String.index_opt pattern '*' with
  | None -> pattern = name
  | Some i ->
    let after = String.sub pattern (i + 1) (String.length pattern - i - 1) in
    Names.starts_with (String.sub pattern 0 i) name && Filename.check_suffix name after

let is_unsafe name = List.exists (fun pattern -> is_named pattern name) unsafe_names

let is_unsafe_primitive name = is_unsafe ("\"" ^ name ^ "\"")

(* UnixLabels and BytesLabels have the functions of Unix and Bytes. *)
let is_unsafe_function path = is_unsafe (Names.replace "Stdlib__" "Stdlib." (Names.replace "Labels." "." path))
