(* Seen: 5.0-5.4. Effect: crash. By chance. *)

let second x =
  let rec first n = if n = 0 then x else second (n - 1)
  and second n = if n = 0 then x + 1 else first (n - 1) in
  Sys.opaque_identity (if Sys.opaque_identity false then first else second)

let work seed =
  let random = Random.State.make [| seed |] in
  let below n = Random.State.int random n in
  let functions = Array.make 20_000 Fun.id and dead = Array.make 2000 [||] in
  let stop = Unix.gettimeofday () +. 90. in
  while Unix.gettimeofday () < stop do
    for _ = 1 to 300 do dead.(below 2000) <- Array.make (1 + below 12) 0xdead done;
    for _ = 0 to below 3000 do functions.(below 20_000) <- second 0 done;
    if below 4 = 0 then Gc.minor ();
    if below 50 = 0 then ignore (Gc.major_slice 0)
  done

let () = List.iter Domain.join (List.init 4 (fun i -> Domain.spawn (fun () -> work i)))
