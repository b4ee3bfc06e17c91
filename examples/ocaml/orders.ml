(* The OCaml side of own_modules.rs. *)

type size = Small | Large | Custom of { grams : int }
type order = { customer : string; size : size; price : float }

exception Out_of_stock of string * int

let grams = function Small -> 250 | Large -> 1000 | Custom { grams } -> grams

(* Takes what an order needs from the stock. *)
let reserve stock order =
  let left = stock - grams order.size in
  if left < 0 then raise (Out_of_stock (order.customer, -left));
  left

let discount percent order =
  { order with price = order.price *. (1. -. (float_of_int percent /. 100.)) }

let () =
  Callback.register_exception "orders.Out_of_stock" (Out_of_stock ("", 0));
  Callback.register "orders.reserve" reserve;
  Callback.register "orders.discount" (fun percent -> discount percent);
  Callback.register "orders.map" (fun (f : order -> order) orders -> List.map f orders)
