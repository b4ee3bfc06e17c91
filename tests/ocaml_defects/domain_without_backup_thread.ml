(* Seen: 5.1-5.5. Effect: crash. Memory: 1400000. *)

let () =
  let stop = Atomic.make false in
  let run () = while not (Atomic.get stop) do Domain.cpu_relax () done in
  let rec spawn n = if n > 0 then match Domain.spawn run with
    | domain -> domain :: spawn (n - 1)
    | exception Failure _ -> []
    else [] in
  let domains = spawn 100 in
  Atomic.set stop true;
  List.iter Domain.join domains
