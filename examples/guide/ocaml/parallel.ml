let both f g =
  let other = Domain.spawn f in
  let mine = g () in
  (Domain.join other, mine)
