(* The functions that the test of the crate `ocaml` calls, and the Rust functions that they call. *)

external rust_apply : (int -> int) -> int -> int = "rust_apply"
external rust_nested : int -> int = "rust_nested"
external rust_fails : string -> string = "rust_fails"
external rust_work : int -> int = "rust_work"

type boxed

external rust_box : string -> boxed = "rust_box"
external rust_unbox : boxed -> string = "rust_unbox"

let concat a b c d = String.concat "," [ a; string_of_int b; c; string_of_int d ]
let adder n = fun m -> n + m
let fails s = if s = "" then raise Not_found else failwith s
let apply_twice n = rust_apply (fun m -> Stress.minor (); rust_apply (fun k -> k * 2) m) n

(* The sum 1 + .. + n, with a Rust frame and its roots for each number. *)
let nested n = if n = 0 then 0 else rust_nested n

(* Rust returns an error, which is raised here. *)
let catch_failure s =
  match rust_fails s with
  | answer -> answer
  | exception Failure message -> "Failure " ^ message

let in_threads n =
  let run i = Thread.create (fun r -> r := rust_work i) in
  let results = List.init n (fun _ -> ref 0) in
  List.iter Thread.join (List.mapi (fun i r -> run i r) results);
  List.fold_left (fun sum r -> sum + !r) 0 results

(* Rust values that own roots until they are collected. *)
let boxes n =
  let boxes = List.init n (fun i -> rust_box (string_of_int i)) in
  Stress.stress ();
  List.for_all Fun.id (List.mapi (fun i box -> rust_unbox box = string_of_int i) boxes)

let () =
  Callback.register "concat" concat;
  Callback.register "adder" adder;
  Callback.register "fails" fails;
  Callback.register "apply_twice" apply_twice;
  Callback.register "nested" nested;
  Callback.register "catch_failure" catch_failure;
  Callback.register "in_threads" in_threads;
  Callback.register "boxes" boxes
