(* The OCaml side of all three programs: types, functions for Rust, and loops that call Rust. *)

type item = { id : int; name : string; price : float; known : bool }
type shape = Empty | Circle of float | Rectangle of int * int | Named of string
type change = int -> int

let call_int n = n + 1
let call_string text : string = text
let closure () : change = fun n -> n + 1
let refuse () : unit = failwith "refused"
let refusal () = refuse

let check right = if not right then failwith "a wrong result"

(* These samples equal those in `common.rs`. *)
let half i = float_of_int i /. 2.
let item i = { id = i; name = "item " ^ string_of_int i; price = half i; known = i land 1 = 1 }
let shape i = List.nth [ Empty; Circle 1.5; Rectangle (2, 3); Named "heptagon" ] i
let list () = List.init 1000 Fun.id
let floats () = Array.init 1000 half
let items () = List.init 1000 item
let mebibyte () = String.make 0x100000 'm'
let mebibyte_of_bytes () = Bytes.make 0x100000 'm'

(* Without Rust, makes a bigarray that is garbage at once. *)
let buffer_of_ocaml n =
  for _ = 1 to n do
    let buffer = Bigarray.(Array1.create char c_layout 0x100000) in
    check (Bigarray.Array1.dim (Sys.opaque_identity buffer) = 0x100000)
  done

external export_int : int -> int = "border_export_int"
external export_string : string -> string = "border_export_string"
external export_record : item -> item = "border_export_record"
external export_error : int -> int = "border_export_error"
external export_panic : int -> int = "border_export_panic"

let export_int n = for i = 1 to n do check (export_int i = i + 1) done
let export_string n = for _ = 1 to n do check (export_string "a short text" = "a short text") done

let export_record n =
  let one = item 1 in
  for _ = 1 to n do check ((export_record one).id = 2) done

let fails export = match export 1 with _ -> false | exception Failure _ -> true
let export_error n = for _ = 1 to n do check (fails export_error) done
let export_panic n = for _ = 1 to n do check (fails export_panic) done

(* For the crates that find functions by name. *)
let () =
  Callback.register "call_int" call_int;
  Callback.register "call_string" call_string;
  Callback.register "closure" closure;
  Callback.register "refuse" refuse;
  Callback.register "refusal" refusal;
  Callback.register "shape" shape;
  Callback.register "list" list;
  Callback.register "floats" floats;
  Callback.register "items" items;
  Callback.register "item" item;
  Callback.register "mebibyte" mebibyte;
  Callback.register "mebibyte_of_bytes" mebibyte_of_bytes;
  Callback.register "export_int" export_int;
  Callback.register "export_string" export_string;
  Callback.register "export_record" export_record;
  Callback.register "export_error" export_error;
  Callback.register "export_panic" export_panic
