(* The same as ocaml_ref, through C. *)

type 'a t
let setup = ignore
external create : 'a -> 'a t = "gc_cell_create"
external get : 'a t -> 'a = "gc_cell_get" [@@noalloc]
external delete : 'a t -> unit = "gc_cell_delete" [@@noalloc]
external modify : 'a t array -> int -> 'a -> unit = "gc_cell_modify" [@@noalloc]
