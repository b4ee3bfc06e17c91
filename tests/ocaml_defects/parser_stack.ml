(* Seen: 4.13-5.5. Effect: crash. *)
(* Two threads read one text each: one text has numbers, the other has words. *)
open Parser_stack_parser

let parse token () =
  for _ = 1 to 1000 do
    let left = ref 100 in
    let next _ =
      decr left;
      if !left > 0 then token else END
    in
    try ignore (Sys.opaque_identity (main next (Lexing.from_string "")))
    with Parsing.Parse_error -> ()
  done

let () =
  List.iter Thread.join (List.map (fun token -> Thread.create (parse token) ()) [ INT 3; WORD "word" ])
