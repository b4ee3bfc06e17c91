(* Runs perm_count on DOMS domains at once. Each domain counts alone, with its own roots. *)

let run (module C : Cell.S) =
  let n = Parameters.int "N" 10 in
  let choice = Parameters.choice "CHOICE" [ "persistent"; "ephemeral" ] in
  let count () =
    let module P = Perm_count.Make (C) () in
    P.count choice n;
    !P.created
  in
  let creates = ref 0 in
  Measure.print_time (fun () ->
      let domains = List.init (Parameters.int "DOMS" 2) (fun _ -> Domain.spawn count) in
      List.iter (fun domain -> creates := !creates + Domain.join domain) domains);
  Measure.print_count "creates" !creates

let () = Program.on_domains "par_perm_count" run
