(** Orders of a shop. *)

type size = Small | Large | Custom of { grams : int }
type order = { customer : string; size : size; price : float; note : string option }

exception Out_of_stock of { customer : string; missing : int }

val reserve : int -> order -> int
(** [reserve stock order] returns the rest of the stock, in grams. Raises {!Out_of_stock} if the
    stock is too small. *)

type change = order -> order

val discount : int -> change
(** [discount percent] is a function that makes orders cheaper. *)

val map : change -> order list -> order list

val deliver : ?express:bool -> order list -> int
(** Delivers the orders, and returns how many it has delivered. *)

external audit : order -> string -> unit = "orders_audit"
(** Called for each delivery. *)
