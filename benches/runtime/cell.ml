(* A cell owns one value. The implementations are in benches/implementations. *)

module type S = sig
  type 'a t
  val name : string
  (* May cells be used by several domains? *)
  val multi_domain : bool
  (* Do cells lie in the library's pools? *)
  val in_pools : bool
  (* To be called before the first create. *)
  val setup : unit -> unit
  val create : 'a -> 'a t
  val get : 'a t -> 'a
  val delete : 'a t -> unit
  (* Changes the value of the cell at an index of the array. The cell may move, and is stored there again. *)
  val modify : 'a t array -> int -> 'a -> unit
end
