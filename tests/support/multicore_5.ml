let domains : unit Domain.t list ref = ref []
let spawn f = domains := Domain.spawn f :: !domains

let join_all () =
  List.iter Domain.join !domains;
  domains := []

(* A suspended computation. When it is resumed, it returns a string to which it has the only
   reference. *)
type _ Effect.t += Pause : unit Effect.t

let continuation () =
  let computation () =
    let kept = String.make 3 'k' in
    Effect.perform Pause;
    kept = "kkk"
  in
  Effect.Deep.match_with computation ()
    { retc = Obj.repr;
      exnc = raise;
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Pause -> Some (fun (k : (a, Obj.t) Effect.Deep.continuation) -> Obj.repr k)
          | _ -> None) }

let resume k =
  let k : (unit, Obj.t) Effect.Deep.continuation = Obj.obj k in
  (Obj.obj (Effect.Deep.continue k ()) : bool)

(* Calls a function on a separate stack, below an effect handler that handles nothing. *)
let in_fiber f =
  Effect.Deep.match_with f () { retc = Fun.id; exnc = raise; effc = (fun _ -> None) }
