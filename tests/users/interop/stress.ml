(* Functions that both programs offer to Rust: garbage collection of every kind, and values that
   tell when they are collected. *)

(* Overwrites the memory of values that are not kept alive. *)
let churn n =
  let kept = ref [] in
  for i = 1 to n do
    kept := string_of_int i :: (if i land 1023 = 0 then [] else !kept)
  done;
  ignore (Sys.opaque_identity !kept)

let minor () =
  Gc.minor ();
  churn 1000

let stress () =
  minor ();
  churn 50_000;
  Gc.full_major ();
  churn 50_000;
  Gc.compact ();
  churn 50_000

let collected = Atomic.make 0

(* A copy of the string, which is counted when it is garbage. *)
let counted s =
  let s = String.concat "" [ s; "" ] in
  Gc.finalise_last (fun () -> Atomic.incr collected) s;
  s

let () =
  Callback.register "minor" minor;
  Callback.register "stress" stress;
  Callback.register "counted" counted;
  Callback.register "collected" (fun () -> Atomic.get collected)
