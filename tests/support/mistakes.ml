(* The items that tests/safe/mistakes.rs and tests/support/mistakes.rs declare wrongly. *)

type size = Small | Large | Custom of { grams : int } | Box of int * string | Old of (int * string)
type order = { customer : string; size : size; price : float; note : string option }
type point = { x : float; y : float }
type parcel = { label : string; weight : float }
type metres = { metres : float } [@@unboxed]
type name = { text : string }
type status = [ `Open | `Closed of int ]
type 'a own = { item : 'a; used : int }

module Words = Map.Make (String)
module Numbers = Set.Make (Int)

let order = { customer = "Ada"; size = Custom { grams = 700 }; price = 9.5; note = Some "fast" }
let give name value = Callback.register ("mistakes." ^ name) (fun () -> Sys.opaque_identity value)

let () =
  give "int" 42;
  give "thousand" 1000;
  give "string" "text";
  give "float" 1.5;
  give "int32" 7l;
  give "int64" 7L;
  give "nativeint" 7n;
  give "unit" ();
  give "some" (Some "text");
  give "error" (Error "text");
  give "list" [ 1; 2; 3 ];
  give "strings" [ "a"; "b" ];
  give "array" [| 1; 2; 3 |];
  give "floats" [| 1.5; 2.5 |];
  give "pair" (1, "one");
  give "triple" (1, "one", 1.);
  give "map" (Words.singleton "a" 1);
  give "set" (Numbers.singleton 1);
  give "seq" (List.to_seq [ 1; 2 ]);
  give "bigarray" Bigarray.(Array1.of_array int c_layout [| 1; 2 |]);
  give "lazy" (lazy (Random.int 5));
  give "ref" (ref 1);
  give "exception" Not_found;
  give "order" order;
  give "point" { x = 1.; y = 2. };
  give "parcel" { label = "books"; weight = 2. };
  give "metres" { metres = 1. };
  give "name" { text = "Ada" };
  give "large" Large;
  give "box" (Box (1, "one"));
  give "old" (Old (1, "one"));
  give "custom" (Custom { grams = 700 });
  give "closed" (`Closed 3 : status);
  give "open" (`Open : status);
  give "own" { item = 1; used = 2 }

let register name f = Callback.register ("mistakes." ^ name) f

exception Out_of_stock of string * int

let () =
  register "succ" succ;
  register "add" (fun a b -> a + b);
  register "sum" (fun (a, b) -> a + b);
  register "after_unit" (fun () n -> n + 1);
  register "optional" (fun ?(by = 1) n -> n + by);
  register "number" 42;
  register "apply_to_text" (fun f -> (f "text" : int));
  register "adder" (fun () -> ( + ));
  register "sold_out" (fun () -> raise (Out_of_stock ("book", 3)))

external an_int : string -> int = "mistakes_an_int"
external a_string : int -> int = "mistakes_a_string"
external swapped : string -> int -> int = "mistakes_swapped"
external first_forgotten : string -> int -> int = "mistakes_first_forgotten"
external an_order : parcel -> int = "mistakes_an_order"
external part_of_order : order -> int = "mistakes_part_of_order"
external a_callback : int -> int = "mistakes_a_callback"

type counter

external counter : unit -> counter = "mistakes_counter"
external read : counter -> int = "mistakes_read"
external read_int : int -> int = "mistakes_read"

let () =
  register "an_int" (fun () -> an_int "text");
  register "a_string" (fun () -> a_string 42);
  register "swapped" (fun () -> swapped "text" 42);
  register "first_forgotten" (fun () -> first_forgotten "text" 42);
  register "an_order" (fun () -> an_order { label = "books"; weight = 2. });
  register "part_of_order" (fun () -> part_of_order order);
  register "a_callback" (fun () -> a_callback 42);
  register "another_box" (fun () -> read (counter ()));
  register "no_box" (fun () -> read_int 42)
