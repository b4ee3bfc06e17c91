(* Runs the program BENCH on the implementation IMPL, and prints its figures as lines "name value".
   BENCH=list lists all programs and implementations. *)

(* For benches/harness. *)
let list () =
  Printf.printf "ocaml %s\n" Sys.ocaml_version;
  let fact : Program.fact -> string = function
    | Deterministic -> "deterministic"
    | Creates_vary -> "creates_vary"
    | About figure -> "about " ^ figure
    | Untimed -> "untimed"
    | Short size -> Printf.sprintf "short %d" size
  in
  let print (p : Program.t) =
    Printf.printf "program %s %s\n" p.name (String.concat " " (List.map fst p.runs));
    List.iter (fun f -> Printf.printf "fact %s %s\n" p.name (fact f)) p.facts
  in
  List.iter print (Program.all ());
  flush stdout

let choose variable text names =
  let names = String.concat " " names in
  Printf.ksprintf failwith "%s=%s: choose one of %s" variable text names

let run bench implementation =
  match List.find_opt (fun (p : Program.t) -> p.name = bench) (Program.all ()) with
  | None when List.mem bench Programs.need_ocaml5 ->
    Printf.ksprintf failwith "BENCH=%s needs OCaml 5, and this is %s" bench Sys.ocaml_version
  | None -> choose "BENCH" bench ("list" :: List.map (fun (p : Program.t) -> p.name) (Program.all ()))
  | Some program -> (
    match List.assoc_opt implementation program.runs with
    | None -> choose ("BENCH=" ^ bench ^ " IMPL") implementation (List.map fst program.runs)
    | Some run ->
      run ();
      let s = Gc.quick_stat () in
      Measure.print "user_seconds" (Sys.time ());
      Measure.print_count "minor_collections" s.minor_collections;
      Measure.print_count "major_collections" s.major_collections;
      Measure.print_count "peak_resident" (Measure.peak_resident ()))

external note_hook : unit -> unit = "bench_note_hook"

let () =
  note_hook ();
  let variable name default = Option.value (Sys.getenv_opt name) ~default in
  try
    match variable "BENCH" "" with
    | "list" -> list ()
    | bench -> run bench (variable "IMPL" "boxroot")
  with Failure message -> prerr_endline message; exit 2
