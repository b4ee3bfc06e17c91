(* Seen: 5.0-5.4. Effect: wrong. By chance. *)

let ask name () =
  let others = ref 0 in
  for _ = 1 to 60_000 do
    if (Unix.getpwnam name).pw_name <> name then incr others
  done;
  !others

let () =
  let other = Domain.spawn (ask "nobody") in
  let mine = ask "root" () in
  if mine + Domain.join other > 0 then exit 1
