(* Implementations that look inside our library, or use it from Rust. *)

(* Ours without the check for the lock. *)
module Unsafe : Cell.S = struct
  type 'a t
  let name = "unsafe"
  let multi_domain = false
  external setup : unit -> unit = "unsafe_cell_setup"
  external create : 'a -> 'a t = "unsafe_cell_create" [@@noalloc]
  external get : 'a t -> 'a = "foreign_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "unsafe_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "unsafe_cell_modify" [@@noalloc]
end

(* Ours, with every delete as if it came from another domain. *)
module Force_remote : Cell.S = struct
  type 'a t
  let name = "force_remote"
  let multi_domain = true
  external setup : unit -> unit = "force_remote_cell_setup"
  external create : 'a -> 'a t = "force_remote_cell_create" [@@noalloc]
  external get : 'a t -> 'a = "foreign_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "force_remote_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "force_remote_cell_modify" [@@noalloc]
end

let cells : (module Cell.S) list = [ (module Unsafe); (module Force_remote) ]

(* Loops that are written in Rust. *)
let rust = [ "rust_token"; "rust_drop" ]

external fixpoint_rust_token : (float -> float) -> float -> float = "rust_token_fixpoint"
external fixpoint_unsafe : (float -> float) -> float -> float = "unsafe_fixpoint"
external fixpoint_force_remote : (float -> float) -> float -> float = "force_remote_fixpoint"

let fixpoints =
  [ ("unsafe", fixpoint_unsafe); ("force_remote", fixpoint_force_remote);
    ("rust_token", fixpoint_rust_token) ]

external attach : int -> unit = "rust_attach"
external take_and_release : int -> unit = "rust_take_and_release"

(* Taking the lock of a thread that OCaml knows, and releasing it, so often. *)
let attaches = [ ("rust_token", attach); ("runtime", take_and_release) ]

external pools : unit -> int = "bench_pools"
external slots_per_pool : unit -> int = "bench_slots_per_pool"

(* n roots of ours, created one after another into new pools, fill them. *)
let check_pools name n =
  if List.mem name [ "boxroot"; "unsafe"; "force_remote" ] then begin
    let slots = slots_per_pool () in
    Printf.printf "pools %d\n" (pools ());
    assert (pools () = (n + slots - 1) / slots)
  end
