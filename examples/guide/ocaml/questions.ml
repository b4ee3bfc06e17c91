type _ Effect.t += Ask : string -> string Effect.t

let ask question = Effect.perform (Ask question)

let answered f =
  Effect.Deep.match_with f ()
    {
      retc = (fun result -> result);
      exnc = raise;
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Ask question ->
              Some (fun (k : (a, _) Effect.Deep.continuation) -> Effect.Deep.continue k (question ^ " Yes."))
          | _ -> None);
    }

let ask_and_answer question = answered (fun () -> ask question)
