(** What the program bindings.rs uses by generated bindings: each kind of type and item. *)

type size = Small | Large | Custom of { grams : int } | Pair of int * string | Tuple of (int * string)
type order = { customer : string; size : size; price : float; note : string option; ids : (int32 * int64 * nativeint) }

val describe : order -> string
(** [describe order] shows the order. *)

val same : order -> order

exception Out_of_stock of string * int
exception Refused of { by : string; order : order }
exception Closed

val refuse : int -> order -> unit
(** Raises {!Closed}, {!Out_of_stock}, {!Refused}, or [Not_found] *)

val all : ?first:bool -> last:int list -> unit -> string * bool array
val currency : string

(** {1 Floats} *)

type metres = { metres : float } [@@unboxed]
type seconds = Seconds of float [@@unboxed]
type point = { x : float; y : float }
type run = { distance : metres; time : seconds }

val scale : float -> run -> run
val middle : point array -> point
val lengths : metres array -> float

(** {1 Parameters} *)

type ('k, 'v) table = Empty | Entry of { key : 'k; value : 'v; rest : ('k, 'v) table }
type 'a boxed = Box of 'a [@@unboxed]

val add : 'k -> 'v -> ('k, 'v) table -> ('k, 'v) table
val find : 'k -> ('k, 'v) table -> 'v option
val twice : ('a -> 'a) -> 'a -> 'a
val names : (string, int) table -> string boxed list
val empty : ('k, 'v) table

(** {1 Others} *)

type colour = [ `Red | `Mixed of int * colour | `Named of string | `type' ]
type amount = private { cents : int }
type counter = { name : string; mutable count : int }
type _ expr = Int : int -> int expr | Is : int expr * int -> bool expr
type stack

val mix : colour list -> colour
val amount : int -> amount
val cents : amount -> int
val counter : string -> counter
val count : counter -> int
val expr : int -> int expr
val eval : 'a expr -> 'a
val test : int expr -> int -> bool expr
val push : stack -> int -> stack
val new_stack : unit -> stack
val depth : stack -> int
val adder : int -> int -> int

type change = order -> order
val discount : float -> change

module Inner : sig
  type string = Text of order list
  val join : string -> int
end

val change : counter -> point array -> until:(unit -> bool) -> unit
(** Changes both, in another domain, until told not to. *)

val wait : unit -> unit

external audit : order -> size -> string = "bound_audit"
external call : (unit -> bool) -> bool = "bound_call"
external six : int -> int -> int -> int -> int -> float -> float = "bound_six_bytecode" "bound_six"
external pick : 'a list -> 'a = "bound_pick"
external norm : (float[@unboxed]) -> (float[@unboxed]) -> (float[@unboxed]) = "bound_norm_bytecode" "bound_norm" [@@noalloc]
external sum :
  (int[@untagged]) -> (int32[@unboxed]) -> (int64[@unboxed]) -> (nativeint[@unboxed]) -> (float[@unboxed]) -> int -> (int64[@unboxed])
  = "bound_sum_bytecode" "bound_sum"
external flip : unit -> bool -> char -> bool = "bound_flip" [@@noalloc]
external norm_in_bytecode : float -> float -> float = "test_norm_in_bytecode"
external sum_in_bytecode : int -> int32 -> int64 -> nativeint -> float -> int -> int64 = "in native code only" "test_sum_in_bytecode"
external quiet : unit -> unit = "bound_quiet" [@@noalloc]
external traces : unit -> bool = "bound_traces" [@@noalloc]
external next32 : (int32[@unboxed]) -> (int32[@unboxed]) = "unavailable" "bound_next32" [@@noalloc]
val by_rust : order -> string list
val by_rust_plain : unit -> string list
val by_rust_in_fibers : unit -> bool list

(** {1 Values of any type} *)

val anything : int -> Obj.t
val sort_of : Obj.t -> string

(** {1 Types of the standard library} *)

module Words : module type of Map.Make (String)

val upper : Uchar.t -> Uchar.t
val cell : string -> string ref
val exclaim : string ref -> unit
val later : unit -> string Lazy.t
val is_done : 'a Lazy.t -> bool
val force : 'a Lazy.t -> unit
val table : (string * float) Seq.t -> (string, float) Hashtbl.t
val longest : float Map.Make(String).t -> string

(** {1 Bigarrays} *)

type image = {
  pixels : (int, Bigarray.int8_unsigned_elt, Bigarray.fortran_layout) Bigarray.Array2.t;
  title : string;
}

val matrix : int -> int -> (float, Bigarray.float64_elt, Bigarray.c_layout) Bigarray.Array2.t
val trace : (float, Bigarray.float64_elt, Bigarray.c_layout) Bigarray.Array2.t -> float
val row :
  ('a, 'b, Bigarray.c_layout) Bigarray.Array2.t -> int -> ('a, 'b, Bigarray.c_layout) Bigarray.Array1.t
val total : (float, Bigarray.float64_elt, Bigarray.c_layout) Bigarray.Array1.t -> float
val sizes : ('a, 'b, 'l) Bigarray.Genarray.t -> int list
val tensor : int list -> (int, Bigarray.int_elt, Bigarray.c_layout) Bigarray.Genarray.t
val image : unit -> image
