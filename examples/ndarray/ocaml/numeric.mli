(** Linear equations, and a moving average. *)

open Bigarray

exception Singular of { column : int }

val solve : (float, float64_elt, c_layout) Array2.t -> (float, float64_elt, c_layout) Array1.t -> unit
(** [solve a b] solves [a x = b]. Replaces [b] with [x], and overwrites [a]. Raises {!Singular}. *)

val smooth : int -> (float, float32_elt, c_layout) Array1.t -> (float, float32_elt, c_layout) Array1.t
(** [smooth n samples] returns the mean of each sample with its [n] neighbours on each side. *)
