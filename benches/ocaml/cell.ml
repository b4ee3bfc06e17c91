(* A cell owns one value. The implementations that are compared. *)

module type S = sig
  type 'a t
  val name : string
  val create : 'a -> 'a t
  val get : 'a t -> 'a
  val delete : 'a t -> unit
  (* Writes the cell, which may move, back to its place. *)
  val modify : 'a t array -> int -> 'a -> unit
end

(* No root at all: the collector keeps the value. *)
module Ocaml : S = struct
  type 'a t = 'a
  let name = "ocaml"
  let create x = x
  let get x = x
  let delete _ = ()
  let modify cells i x = cells.(i) <- x
end

module Ocaml_ref : S = struct
  type 'a t = { mutable contents : 'a }
  let name = "ocaml_ref"
  let create contents = { contents }
  let get r = r.contents
  let delete r = r.contents <- Obj.magic ()
  let modify cells i x = cells.(i).contents <- x
end

(* The same, through C. *)
module Gc : S = struct
  type 'a t
  let name = "gc"
  external create : 'a -> 'a t = "gc_cell_create"
  external get : 'a t -> 'a = "gc_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "gc_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "gc_cell_modify" [@@noalloc]
end

(* A malloc'ed word that is a global root. *)
module Global : S = struct
  type 'a t
  let name = "global"
  external create : 'a -> 'a t = "global_cell_create" [@@noalloc]
  external get : 'a t -> 'a = "foreign_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "global_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "global_cell_modify" [@@noalloc]
end

module Generational : S = struct
  type 'a t
  let name = "generational"
  external create : 'a -> 'a t = "generational_cell_create" [@@noalloc]
  external get : 'a t -> 'a = "foreign_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "generational_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "generational_cell_modify" [@@noalloc]
end

(* The boxroots that this program is linked with: ours, or the registry crate's. *)
module Boxroot : S = struct
  type 'a t
  let name = "boxroot"
  external create : 'a -> 'a t = "boxroot_cell_create" [@@noalloc]
  external get : 'a t -> 'a = "foreign_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "boxroot_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "boxroot_cell_modify" [@@noalloc]
end

let all : (module S) list =
  [ (module Ocaml); (module Ocaml_ref); (module Gc); (module Global); (module Generational);
    (module Boxroot) ]

let find name = List.find (fun (module C : S) -> C.name = name) all
