type size = Small | Large | Custom of { grams : int }
type order = { customer : string; size : size; price : float }

exception Out_of_stock of string * int

let grams = function Small -> 250 | Large -> 1000 | Custom { grams } -> grams

let reserve stock order =
  let left = stock - grams order.size in
  if left < 0 then raise (Out_of_stock (order.customer, -left)) else left
