(* A cell owns one value. The implementations that are compared. *)

module type S = sig
  type 'a t
  val name : string
  (* May cells be used by several domains? *)
  val multi_domain : bool
  (* Before the first create. *)
  val setup : unit -> unit
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
  let multi_domain = true
  let setup = ignore
  let create x = x
  let get x = x
  let delete _ = ()
  let modify cells i x = cells.(i) <- x
end

module Ocaml_ref : S = struct
  type 'a t = { mutable contents : 'a }
  let name = "ocaml_ref"
  let multi_domain = true
  let setup = ignore
  let create contents = { contents }
  let get r = r.contents
  let delete r = r.contents <- Obj.magic ()
  let modify cells i x = cells.(i).contents <- x
end

(* The same, through C. *)
module Gc : S = struct
  type 'a t
  let name = "gc"
  let multi_domain = true
  let setup = ignore
  external create : 'a -> 'a t = "gc_cell_create"
  external get : 'a t -> 'a = "gc_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "gc_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "gc_cell_modify" [@@noalloc]
end

(* The others own memory outside the heap; see benches/impls. *)

module Global : S = struct
  type 'a t
  let name = "global"
  let multi_domain = true
  let setup = ignore
  external create : 'a -> 'a t = "global_cell_create" [@@noalloc]
  external get : 'a t -> 'a = "foreign_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "global_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "global_cell_modify" [@@noalloc]
end

module Generational : S = struct
  type 'a t
  let name = "generational"
  let multi_domain = true
  let setup = ignore
  external create : 'a -> 'a t = "generational_cell_create" [@@noalloc]
  external get : 'a t -> 'a = "foreign_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "generational_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "generational_cell_modify" [@@noalloc]
end

(* The boxroots that this program is linked with: ours, or the registry crate's. *)
module Boxroot : S = struct
  type 'a t
  let name = "boxroot"
  let multi_domain = true
  external setup : unit -> unit = "boxroot_cell_setup"
  external create : 'a -> 'a t = "boxroot_cell_create" [@@noalloc]
  external get : 'a t -> 'a = "foreign_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "boxroot_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "boxroot_cell_modify" [@@noalloc]
end

module Dll_boxroot : S = struct
  type 'a t
  let name = "dll_boxroot"
  let multi_domain = false
  external setup : unit -> unit = "dll_boxroot_cell_setup"
  external create : 'a -> 'a t = "dll_boxroot_cell_create" [@@noalloc]
  external get : 'a t -> 'a = "foreign_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "dll_boxroot_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "dll_boxroot_cell_modify" [@@noalloc]
end

module Rem_boxroot : S = struct
  type 'a t
  let name = "rem_boxroot"
  let multi_domain = false
  external setup : unit -> unit = "rem_boxroot_cell_setup"
  external create : 'a -> 'a t = "rem_boxroot_cell_create" [@@noalloc]
  external get : 'a t -> 'a = "foreign_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "rem_boxroot_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "rem_boxroot_cell_modify" [@@noalloc]
end

module Bitmap_boxroot : S = struct
  type 'a t
  let name = "bitmap_boxroot"
  let multi_domain = true
  external setup : unit -> unit = "bitmap_boxroot_cell_setup"
  external create : 'a -> 'a t = "bitmap_boxroot_cell_create" [@@noalloc]
  external get : 'a t -> 'a = "foreign_cell_get" [@@noalloc]
  external delete : 'a t -> unit = "bitmap_boxroot_cell_delete" [@@noalloc]
  external modify : 'a t array -> int -> 'a -> unit = "bitmap_boxroot_cell_modify" [@@noalloc]
end

let all : (module S) list =
  [ (module Ocaml); (module Ocaml_ref); (module Gc); (module Global); (module Generational);
    (module Boxroot); (module Dll_boxroot); (module Rem_boxroot); (module Bitmap_boxroot) ]
