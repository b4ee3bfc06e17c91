(** Linear equations, and a moving average. *)

open Bigarray

exception Singular of { column : int }

val solve : (float, float64_elt, c_layout) Array2.t -> (float, float64_elt, c_layout) Array1.t -> unit
(** [solve a b] replaces [b] by the [x] with [a x = b], and overwrites [a]. Raises {!Singular}. *)

val smooth : int -> (float, float32_elt, c_layout) Array1.t -> (float, float32_elt, c_layout) Array1.t
(** [smooth n samples] has the mean of each sample and its [n] neighbours on each side. *)
