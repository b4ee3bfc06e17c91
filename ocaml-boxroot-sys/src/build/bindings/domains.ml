(* For pools of domains (ocaml_boxroot::domains): runs [body] in a new domain, and waits until it calls its argument. Raises what
   [body] raised before that. *)
let () =
  let open Stdlib in
  Callback.register "ocaml_boxroot.spawn" (fun body ->
      let has_begun = Semaphore.Binary.make false and error = ref None in
      let begun () = Semaphore.Binary.release has_begun in
      let run () = try body begun with exn -> error := Some exn; begun () in
      ignore (Domain.spawn run);
      Semaphore.Binary.acquire has_begun;
      Option.iter raise !error)
