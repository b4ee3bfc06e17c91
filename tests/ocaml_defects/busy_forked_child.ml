(* Seen: 5.0-5.5. Effect: hang. *)

let () =
  Thread.join (Thread.create ignore ());
  match Unix.fork () with
  | 0 ->
      let set = Atomic.make false in
      ignore (Thread.create (fun () -> Atomic.set set true) ());
      while not (Atomic.get set) do () done
  | child -> ignore (Unix.waitpid [] child)
