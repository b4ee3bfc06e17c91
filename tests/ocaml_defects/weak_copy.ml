(* Seen: 5.0-5.5. Effect: crash. *)

type _ Effect.t += First : unit Effect.t | Second : string Effect.t

let weak : (unit, unit) Effect.Deep.continuation Weak.t = Weak.create 1
let kept = ref None

let keep k =
  Weak.set weak 0 (Some k);
  kept := Some k

let () =
  let effc (type a) (e : a Effect.t) : ((a, unit) Effect.Deep.continuation -> unit) option =
    match e with First -> Some keep | Second -> Some ignore | _ -> None
  in
  Effect.Deep.match_with
    (fun () ->
      Effect.perform First;
      print_endline (Effect.perform Second))
    ()
    { retc = Fun.id; exnc = raise; effc };
  let copy = Option.get (Weak.get_copy weak 0) in
  Effect.Deep.continue (Option.get !kept) ();
  try Effect.Deep.continue copy () with Effect.Continuation_already_resumed -> ()
