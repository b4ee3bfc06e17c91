(* Seen: 5.0-5.5. Effect: wrong crash. By chance. *)
(* One domain forces lazy values. The other domain overwrites references to the same values, which darkens them while the
   collector marks. Each value raises Exit. *)
let count = 400_000
let block = 40

let () =
  let make _ = lazy (if Sys.opaque_identity true then raise_notrace Exit else 0) in
  let forced = Array.init count make in
  let overwritten = Array.copy forced in
  let kept = Array.make 64 [||] in
  let stop = Atomic.make false and position = Atomic.make 0 and failures = Atomic.make 0 in
  let force () =
    while not (Atomic.get stop) do
      let first = Atomic.get position in
      for i = first to first + block - 1 do
        match Lazy.force forced.(i) with
        | _ | (exception Exit) -> ()
        | exception Lazy.Undefined -> Atomic.incr failures
      done
    done
  in
  let domain = Domain.spawn force in
  let until = Unix.gettimeofday () +. 40. in
  while Unix.gettimeofday () < until && Atomic.get failures = 0 do
    for i = 0 to (count / block) - 1 do
      Atomic.set position (block * i);
      for j = block * i to (block * i) + block - 1 do overwritten.(j) <- forced.(0) done;
      kept.(i land 63) <- Array.make 300 0
    done;
    Array.blit forced 0 overwritten 0 count
  done;
  Atomic.set stop true;
  Domain.join domain;
  if Atomic.get failures > 0 then exit 1
