(* Tests the closures of ocaml-boxroot/src/c/closure.c without Rust, also on processors without Rust and in bytecode. *)

external make : int -> int -> 'a = "test_make"

let test () =
  let one : int -> int = make 0 1 and three : int -> int -> int -> int = make 0 3 in
  assert (List.map one [ 1; 2; 3 ] = [ 1; 2; 3 ]);
  let some = three 1 in
  Gc.minor ();
  let most = some 2 in
  Gc.full_major ();
  assert ([ most 3; most 4; some 5 6; three 7 8 9 ] = [ 123; 124; 156; 789 ]);
  (* After the calls, the float registers and the allocation pointer have their right values. *)
  let total = ref 0. in
  for i = 1 to 100_000 do
    let x = float_of_int i in
    if i <> 666 then total := !total +. float_of_int (one i) +. x
  done;
  assert (!total = 10_000_100_000. -. 1332.);
  (match one 666 with _ -> assert false | exception Not_found -> ());
  let list = List.init 600 (fun i -> i * 257 mod 601) in
  assert (List.sort (fun a b -> one a - one b) list = List.sort compare list);
  let rec loop n = if n = 0 then one 3 else loop (n - 1) in
  assert (loop 10 = 3)

let () =
  match (Sys.backend_type, test ()) with
  | Sys.Native, () -> ()
  | _ -> assert false
  | exception Failure message -> assert (Sys.backend_type = Sys.Bytecode && message = "no closures here")
