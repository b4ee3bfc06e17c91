(* Seen: 5.3. Effect: crash. Compile: -runtime-variant d. Run: OCAMLRUNPARAM=V=1. *)

let n = 600_000
let cells = Array.init n string_of_int
let drops = ref 0
let rec again () =
  Gc.finalise
    (fun _ ->
      incr drops;
      for i = 0 to n - 1 do if Random.int 5 = 0 then cells.(i) <- "" done;
      if !drops < 40 then again ())
    (ref 0)
let () =
  again ();
  for _ = 0 to 12 do Gc.compact () done
