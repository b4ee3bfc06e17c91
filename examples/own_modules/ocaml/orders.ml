type size = Small | Large | Custom of { grams : int }
type order = { customer : string; size : size; price : float; note : string option }

exception Out_of_stock of { customer : string; missing : int }

let grams = function Small -> 250 | Large -> 1000 | Custom { grams } -> grams

let reserve stock order =
  let left = stock - grams order.size in
  if left < 0 then raise (Out_of_stock { customer = order.customer; missing = -left });
  left

type change = order -> order

let discount percent order = { order with price = order.price *. (1. -. (float_of_int percent /. 100.)) }
let map = List.map

external audit : order -> string -> unit = "orders_audit"

let deliver ?(express = false) orders =
  List.iter (fun order -> audit order (if express then "today" else "tomorrow")) orders;
  List.length orders
