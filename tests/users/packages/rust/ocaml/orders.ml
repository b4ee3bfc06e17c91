type size = Small | Large | Custom of { grams : int }
type order = { customer : string; size : size; price : float }
let grams = function Small -> 250 | Large -> 1000 | Custom { grams } -> grams

let reserve stock order =
  if grams order.size > stock then failwith ("not enough for " ^ order.customer);
  stock - grams order.size
