(* Seen: 4.13-5.5. Effect: wrong crash. *)
(* The text of the rule `large` arrives in two parts. Before the second part, `small` reads another text. *)
let parts = ref [ "a-"; "xx,y"; "b-c-d." ]
let neighbour = ref [||]

let refill lexbuf buffer =
  if List.length !parts = 2 && !neighbour = [||] then begin
    neighbour := Array.make 30 42;
    ignore (Lexer_memory_lexer.small (lexbuf ()))
  end;
  match !parts with
  | [] -> 0
  | part :: rest ->
      parts := rest;
      Bytes.blit_string part 0 buffer 0 (String.length part);
      String.length part

let () =
  let lexbuf = ref (Lexing.from_string "") in
  lexbuf := Lexing.from_function (fun buffer _ -> refill (fun () -> !lexbuf) buffer);
  (try ignore (Lexer_memory_lexer.large !lexbuf) with Failure _ | Invalid_argument _ -> ());
  if Array.exists (fun x -> x <> 42) !neighbour then exit 1
