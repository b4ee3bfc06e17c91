(* Has no interface. Pairs.pair is a record of two floats that is not flat, because Pair does not know that they are
   floats. *)
module Pair (N : sig type t end) = struct
  type pair = { a : N.t; b : N.t }
  let make a b = { a; b }
end

module Pairs = Pair (Float)

let sum { Pairs.a; b } = a +. b

(* Fields that are floats only through the names of other types. This record is flat. *)
type length = float
type flat = { from : length; until : Float.t }
let flat from until = { from; until }
