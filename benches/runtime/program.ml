(* The programs register themselves here, and main.ml runs one. *)

(* The facts that the harness needs about a program. *)
type fact =
  | Deterministic (* two runs on the same implementation give equal counts, whatever their times *)
  | Creates_vary (* the number of cells that it creates depends on the implementation *)
  | About of string (* its main time, if that is not "seconds" *)
  | Untimed (* it is not about time *)
  | Short of int (* SIZE for runs that are repeated many times; the default is for single runs *)

(* A program, and its function for each implementation that it supports. *)
type t = { name : string; facts : fact list; runs : (string * (unit -> unit)) list }

let registered = ref []

let register ?(facts = []) name runs =
  match runs with [] -> () | _ :: _ -> registered := { name; facts; runs } :: !registered

(* By name. *)
let all () = List.sort (fun a b -> compare a.name b.name) !registered

let on ?facts cells name run =
  let on_cell (module C : Cell.S) = (C.name, fun () -> C.setup (); run (module C : Cell.S)) in
  register ?facts name (List.map on_cell cells)

(* Registers a program that runs on every cell. *)
let on_cells ?facts name run = on ?facts Implementations.cells name run

(* The same, on every cell that several domains may use. *)
let on_domains ?facts name run =
  on ?facts (List.filter (fun (module C : Cell.S) -> C.multi_domain) Implementations.cells) name run

external select : string -> unit = "bench_select"

let on_selected ?facts implementations name run =
  register ?facts name (List.map (fun i -> (i, fun () -> select i; run ())) implementations)

(* The same, on every implementation that has loops over single operations. *)
let on_loops ?facts name run = on_selected ?facts Implementations.loops name run

(* The same, on every implementation with loops whose delete needs no lock. *)
let on_lockless ?facts name run = on_selected ?facts Implementations.without_lock name run

(* Sets the cell of this name up, if there is one. *)
let set_up name =
  List.iter (fun (module C : Cell.S) -> if C.name = name then C.setup ()) Implementations.cells
