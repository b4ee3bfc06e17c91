(* The programs register themselves here, and main.ml runs one. *)

(* A program, and what it runs for each implementation it supports. *)
type t = { name : string; runs : (string * (unit -> unit)) list }

let registered = ref []

let register name runs =
  match runs with [] -> () | _ :: _ -> registered := { name; runs } :: !registered

(* By name. *)
let all () = List.sort (fun a b -> compare a.name b.name) !registered

let on cells name run =
  let on_cell (module C : Cell.S) = (C.name, fun () -> C.setup (); run (module C : Cell.S)) in
  register name (List.map on_cell cells)

(* On every cell. *)
let on_cells name run = on Implementations.cells name run

(* On every cell that several domains may use. *)
let on_domains name run =
  on (List.filter (fun (module C : Cell.S) -> C.multi_domain) Implementations.cells) name run

external select : string -> unit = "bench_select"

let on_selected implementations name run =
  register name (List.map (fun i -> (i, fun () -> select i; run ())) implementations)

(* On every implementation that has loops over single operations. *)
let on_loops name run = on_selected Implementations.loops name run

(* On those of them whose delete needs no lock. *)
let on_lockless name run = on_selected Implementations.without_lock name run

(* Sets the cell of this name up, if there is one. *)
let set_up name =
  List.iter (fun (module C : Cell.S) -> if C.name = name then C.setup ()) Implementations.cells
