(* No root at all, through C calls that do nothing: the cost of calling C to make, read and delete a cell. *)

type 'a t
let setup = ignore
external create : 'a -> 'a t = "calls_cell_create" [@@noalloc]
external get : 'a t -> 'a = "calls_cell_get" [@@noalloc]
external delete : 'a t -> unit = "calls_cell_delete" [@@noalloc]
external modify : 'a t array -> int -> 'a -> unit = "calls_cell_modify" [@@noalloc]
