(* Seen: 4.13-4.14. Effect: wrong. *)

external fork : unit -> int = "fork_without_lock"

let () =
  Thread.join (Thread.create ignore ());
  for _ = 1 to 200 do
    ignore (Thread.create ignore ());
    if fork () <> 0 then exit 1
  done
