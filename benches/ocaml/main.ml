(* Runs the program BENCH on the implementation IMPL, and prints what it measured as lines
   "name value". BENCH=list tells which there are. *)

(* A program, and what it runs for each implementation it supports. *)
type program = { name : string; runs : (string * (unit -> unit)) list }

let cells = Cell.all @ Variants.cells
let run_on run (module C : Cell.S) = (C.name, fun () -> C.setup (); run (module C : Cell.S))
let on_cells (name, run) = { name; runs = List.map (run_on run) cells }

let on_domains (name, run) =
  let multi_domain = List.filter (fun (module C : Cell.S) -> C.multi_domain) cells in
  { name; runs = List.map (run_on run) multi_domain }

let in_c implementations (name, run) =
  { name; runs = List.map (fun i -> (i, fun () -> Micro.select i; run ())) implementations }

(* The implementation's own setup, if it has one. *)
let set_up name =
  List.iter (fun (module C : Cell.S) -> if C.name = name then C.setup ()) cells

let local_roots =
  let run (name, fixpoint) =
    let uses = match name with "naive" | "rust_token" -> "boxroot" | _ -> name in
    (name, fun () -> set_up uses; Local_roots.run fixpoint ())
  in
  { name = "local_roots"; runs = List.map run Local_roots.fixpoints }

let attach =
  let run (name, attaches) =
    let n = Parameters.int "SIZE" 10_000_000 in
    (name, fun () -> Measure.print_time (fun () -> attaches n))
  in
  { name = "attach"; runs = List.map run Variants.attaches }

let programs =
  List.map on_cells
    [ ("perm_count", Perm_count.run); ("synthetic", Synthetic.run); ("globroots", Globroots.run);
      ("pause", Many.pause); ("majors", Many.majors); ("memory", Many.memory);
      ("check", Check.run) ]
  @ List.filter (fun p -> p.runs <> []) [ local_roots; attach ]
  @ List.map (in_c Micro.implementations) Micro.programs
  @ [ in_c Lockless.implementations ("lockless", Lockless.run) ]
  @ List.map on_domains Parallel.programs

let list () =
  Printf.printf "ocaml %s\n" Sys.ocaml_version;
  let names p = String.concat " " (List.map fst p.runs) in
  List.iter (fun p -> Printf.printf "program %s %s\n%!" p.name (names p)) programs

let choose variable text names =
  let names = String.concat " " names in
  Printf.ksprintf failwith "%s=%s: choose one of %s" variable text names

let run bench implementation =
  match List.find_opt (fun p -> p.name = bench) programs with
  | None when List.mem bench Parallel.needs_ocaml5 ->
    Printf.ksprintf failwith "BENCH=%s needs OCaml 5, and this is %s" bench Sys.ocaml_version
  | None -> choose "BENCH" bench ("list" :: List.map (fun p -> p.name) programs)
  | Some program -> (
    match List.assoc_opt implementation program.runs with
    | None -> choose ("BENCH=" ^ bench ^ " IMPL") implementation (List.map fst program.runs)
    | Some run ->
      run ();
      let s = Gc.quick_stat () in
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
