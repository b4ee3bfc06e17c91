class type shape = object
  method area : float
  method name : string
end

class virtual named (name : string) = object
  method name = name
  method virtual area : float
end

let made = ref 0

class square (side : float) = object (_ : 'self)
  inherit named "square"
  initializer incr made
  method area = if side < 0. then invalid_arg "a negative side" else side *. side
  method scaled ?(by = 2.) () = new square (by *. side)
end

class counter = object
  val mutable n = 0
  method add ?(twice = false) ~by () = n <- n + if twice then 2 * by else by
  method value = n
  method copy = {< >}
end

class ['a] stack = object
  val mutable l : 'a list = []
  method push (x : 'a) = l <- x :: l
  method map : 'b. ('a -> 'b) -> 'b list = fun f -> List.map f l
end

let squares () = !made
let area (s : #shape) = s#area

module type Unit = sig
  type t
  val of_float : float -> t
  val name : string
end

let metres () : (module Unit with type t = float) = (module struct type t = float let of_float x = x let name = "m" end)
let length (type a) (module U : Unit with type t = a) x = (U.of_float x, U.name)
