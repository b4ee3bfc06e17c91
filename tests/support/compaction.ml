(* With V=1, which `make sanitize ONLY=debug` sets, the debug runtime of OCaml 5.3 asserts a count that is wrong if values die
   during a compaction (docs/known-of-ocaml.md). Some values do, because deletes are drained in parts. *)

let counts_wrong = Sys.ocaml_version >= "5" && Sys.ocaml_version < "5.4"

let is_verified =
  match Sys.getenv_opt "OCAMLRUNPARAM" with
  | Some settings -> List.mem "V=1" (String.split_on_char ',' settings)
  | None -> false

let compact =
  if counts_wrong && is_verified && Sys.runtime_variant () = "d" then Gc.full_major else Gc.compact
