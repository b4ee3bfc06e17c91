(* The functions that the test of ocaml-interop calls, and the Rust functions that they call. *)

exception RustPanic of string

external rust_apply : (int -> int) -> int -> int = "rust_apply"
external rust_nested : int -> int = "rust_nested"
external rust_work : int -> int = "rust_work"
external rust_add_floats : float -> float -> float = "" "rust_add_floats" [@@unboxed] [@@noalloc]
external rust_panic : string -> unit = "rust_panic"

type boxed

external rust_box : string -> boxed = "rust_box"
external rust_unbox : boxed -> string = "rust_unbox"

let concat a b c d = String.concat "," [ a; string_of_int b; c; string_of_int d ]
let adder n = fun m -> n + m
let fails s = if s = "" then raise Not_found else failwith s

(* [apply f n] from Rust, which applies f: a callback in a callback. *)
let apply_twice n = rust_apply (fun m -> Stress.minor (); rust_apply (fun k -> k * 2) m) n

(* The sum 1 + .. + n, with a Rust frame and its roots for each number. *)
let nested n = if n = 0 then 0 else rust_nested n

let catch_panic s =
  match rust_panic s with
  | () -> "no panic"
  | exception RustPanic message ->
    Stress.minor ();
    "RustPanic " ^ message

let sum = List.fold_left ( + ) 0

let in_threads n =
  let run i = Thread.create (fun r -> r := rust_work i) in
  let results = List.init n (fun _ -> ref 0) in
  List.iter Thread.join (List.mapi (fun i r -> run i r) results);
  sum (List.map ( ! ) results)

let in_domains n =
  let domains = List.init n (fun i -> Domain.spawn (fun () -> rust_work i)) in
  sum (List.map Domain.join domains)

(* Rust values that own roots. This domain or another one collects them. *)
let boxes n =
  let make i = rust_box (string_of_int i) in
  let check i box = rust_unbox box = string_of_int i in
  let ours = List.init n make in
  let theirs = Domain.join (Domain.spawn (fun () -> List.init n make)) in
  Stress.stress ();
  List.for_all Fun.id (List.mapi check ours) && List.for_all Fun.id (List.mapi check theirs)

let () =
  Callback.register_exception "rust_panic_exn" (RustPanic "");
  Callback.register "concat" concat;
  Callback.register "adder" adder;
  Callback.register "fails" fails;
  Callback.register "fails_of" (fun () -> fails);
  Callback.register "apply_twice" apply_twice;
  Callback.register "nested" nested;
  Callback.register "add_floats" rust_add_floats;
  Callback.register "catch_panic" catch_panic;
  Callback.register "in_threads" in_threads;
  Callback.register "in_domains" in_domains;
  Callback.register "boxes" boxes
