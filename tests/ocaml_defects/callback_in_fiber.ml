(* Seen: 5.3-5.4. Effect: crash. *)

external call : (unit -> unit) -> unit = "call_ocaml"

type _ Effect.t += Pause : unit Effect.t

let suspended : (unit, unit) Effect.Deep.continuation Queue.t = Queue.create ()

let in_fiber f =
  let effc (type a) (e : a Effect.t) =
    match e with
    | Pause -> Some (fun (k : (a, unit) Effect.Deep.continuation) -> Queue.add k suspended)
    | _ -> None
  in
  Effect.Deep.match_with f () { retc = Fun.id; exnc = raise; effc }

let task () =
  for _ = 1 to 20 do
    call (fun () -> ignore (Sys.opaque_identity (List.init 50 string_of_int)));
    Effect.perform Pause
  done

let () =
  let over = Atomic.make false in
  let other = Domain.spawn (fun () -> while not (Atomic.get over) do Gc.compact () done) in
  let stop = Unix.gettimeofday () +. 20. in
  while Unix.gettimeofday () < stop do
    for _ = 1 to 50 do in_fiber task done;
    while not (Queue.is_empty suspended) do Effect.Deep.continue (Queue.pop suspended) () done
  done;
  Atomic.set over true;
  Domain.join other
