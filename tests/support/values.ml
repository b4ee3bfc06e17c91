(* The OCaml functions that tests/safe calls, and calls of the Rust functions of tests/support/values.rs. *)

let register = Callback.register

(* ---- conversions ---- *)

let () =
  register "show_numbers" (fun i (i32, i64, n) (c, x, b) ->
      Printf.sprintf "%d %ld %Ld %nd %C %g %b" i i32 i64 n c x b);
  register "numbers" (fun () -> (min_int, Int32.min_int, Int64.max_int, Nativeint.min_int, '\xe9', 0.5));
  register "extremes" (fun () -> [ min_int; -1; 0; 127; 128; 255; 256; 65535; 65536; max_int ]);
  register "flip" (function Ok n -> Error (string_of_int n) | Error s -> Ok (int_of_string s));
  register "rotate" (fun (a, b, c, d, e, f, g, h) -> (b, c, d, e, f, g, h, a));
  register "same" (fun list -> match list with a :: b :: _ -> a == b | _ -> false);
  register "float_array" (fun n -> Array.init n (fun i -> float_of_int i /. 2.));
  register "string_array" (fun n -> Array.init n string_of_int);
  register "show_uchar" (fun c -> Printf.sprintf "U+%04X" (Uchar.to_int c));
  register "uchars" (fun () -> List.map Uchar.of_int [ 0; 0xd7ff; 0xe000; 0x10ffff ]);
  register "unsafe_uchars" (fun () -> List.map Uchar.unsafe_of_int [ 0xd800; 0xdfff; 0x110000; -1; max_int; min_int; 1 lsl 32 + 65 ])

(* ---- kinds ---- *)

type shape = Nothing | Circle of float | Hidden | Rectangle of float * float

let () =
  register "shapes" (fun () -> [ Nothing; Circle 1.; Hidden; Rectangle (2., 3.) ]);
  register "area" (function
    | Nothing | Hidden -> 0.
    | Circle r -> r *. r *. 3.
    | Rectangle (a, b) -> a *. b)

(* ---- records and variants ---- *)

type city = { name : string; mutable height : int; at : point; tags : string list }
and point = { x : float; y : float }

type 'a box = { item : 'a; mutable used : int }
type ('a, 'b) table = Tip of 'b | Fork of { left : ('a, 'b) table; key : 'a; right : ('a, 'b) table }
type 'a reply = [ `Found of 'a * int | `Nothing ]

let rec turn = function Tip _ as tip -> tip | Fork { left; key; right } -> Fork { left = turn right; key; right = turn left }
type tree = Leaf | Node of tree * int * tree | Empty | Named of { label : string; below : tree }
type color = [ `Black | `Rgb of int * int * int | `named of string | `A_rather_long_name_of_a_tag | `loop ]
type metres = { metres : float } [@@unboxed]
type seconds = Seconds of float [@@unboxed]
type name = { text : string } [@@unboxed]
type run = { distance : metres; time : seconds; speed : float }
type runner = { runner : name; best : metres }

let rec sum = function
  | Leaf | Empty -> 0
  | Node (l, n, r) -> sum l + n + sum r
  | Named { label; below } -> String.length label + sum below

let show_color : color -> string = function
  | `Black -> "black"
  | `Rgb (r, g, b) -> Printf.sprintf "#%02x%02x%02x" r g b
  | `named s -> s
  | `A_rather_long_name_of_a_tag -> "long"
  | `loop -> "loop"

let () =
  register "show_city" (fun { name; height; at = { x; y }; tags } ->
      Printf.sprintf "%s %d (%g, %g) %s" name height x y (String.concat "," tags));
  register "rome" (fun () -> { name = "Rome"; height = 21; at = { x = 41.9; y = 12.5 }; tags = [ "old" ] });
  register "points" (fun n -> Array.init n (fun i -> { x = float_of_int i; y = -1. }));
  register "sum" sum;
  register "deep_tree" (fun n ->
      let tree = ref Leaf in
      for i = 1 to n do tree := Node (!tree, i, Leaf) done;
      !tree);
  register "turn" turn;
  register "reply" (fun box -> if box.used > 0 then `Found (box, box.used) else `Nothing);
  register "tree" (fun () -> Named { label = "four"; below = Node (Node (Leaf, 1, Leaf), 2, Empty) });
  register "colors" (fun () : color list ->
      [ `Black; `Rgb (1, 2, 255); `named "blue"; `A_rather_long_name_of_a_tag; `loop ]);
  register "show_color" show_color;
  register "runs" (fun n ->
      List.init n (fun i ->
          let x = float_of_int i in
          { distance = { metres = x }; time = Seconds 2.; speed = x /. 2. }));
  register "distance" (List.fold_left (fun sum { distance = { metres }; _ } -> sum +. metres) 0.);
  register "runner" (fun best -> { runner = { text = "Bolt" }; best });
  register "metres" (fun { best = { metres }; runner = { text } } -> [| { metres }; { metres = float (String.length text) } |]);
  register "other_colors" (fun () -> [ `White; `Black ])

(* ---- exceptions ---- *)

external throw : unit -> unit = "values_throw"
external throw_from : int -> unit = "values_throw_from"

exception Parse_error of string * int
exception Quiet
exception Wraps of exn
type exn += Holds : 'a -> exn

let () =
  Callback.register_exception "Parse_error" (Parse_error ("", 0));
  Callback.register_exception "Quiet" Quiet;
  List.iter (fun n -> Callback.register_exception (String.make n 'q') Quiet) [ 63; 64; 100 ];
  (* This has no effect, because OCaml defines an exception of this name. *)
  Callback.register_exception "Sys_blocked_io" Quiet;
  register "an_object" (object method m = 1 end);
  register "raise_holding" (fun x -> raise (Holds x));
  register "raise_nth" (fun n ->
      match n with
      | 0 -> raise Not_found
      | 1 -> raise (Parse_error ("expected ;", 17))
      | 2 -> raise Quiet
      | 3 -> failwith (String.make 1000 'x')
      | 4 -> assert false
      | 5 -> invalid_arg "a\000b"
      | 6 -> raise (Wraps Quiet)
      | 7 -> ignore (1 / (n - 7))
      | 8 -> ignore (compare succ pred)
      | _ -> ());
  register "record_backtrace" Printexc.record_backtrace;
  register "raise_deep" (fun n ->
      let rec deep n = if n = 0 then raise Quiet else 1 + deep (n - 1) in
      ignore (deep n));
  register "raise_quietly" (fun () -> raise_notrace Not_found);
  (* The backtrace of an exception that passed through Rust, while its argument called OCaml. *)
  register "backtrace_of" (fun n ->
      match throw_from (n + 0) with
      | () -> "none"
      | exception Not_found -> Printexc.get_backtrace ());
  register "raise_predefined" (fun n ->
      let place = ("a.ml", 1, 2) in
      raise (List.nth
        [ Out_of_memory; Sys_error "no"; Failure "no"; Invalid_argument "no"; End_of_file;
          Division_by_zero; Not_found; Match_failure place; Stack_overflow; Sys_blocked_io;
          Assert_failure place; Undefined_recursive_module place ] n));
  register "name_of" (fun () ->
      match throw () with
      | () -> "none"
      | exception Not_found -> "Not_found"
      | exception Parse_error (text, n) -> Printf.sprintf "Parse_error %s %d" text n
      | exception Quiet -> "Quiet"
      | exception End_of_file -> "End_of_file"
      | exception Invalid_argument s -> "Invalid_argument " ^ s
      | exception Failure s -> Printf.sprintf "Failure of %d bytes, %s" (String.length s) (Digest.to_hex (Digest.string s)))

(* ---- exported functions ---- *)

external joined : string -> int -> float -> bool -> char -> string = "values_joined"
external six : int -> int -> int -> int -> int -> int -> int = "values_six_bytecode" "values_six"

external nine : int -> string -> int -> int -> int -> int -> int -> int -> int -> string
  = "values_nine_bytecode" "values_nine"

external nothing : unit -> int = "values_nothing"
external narrow : int -> int = "values_narrow"
external body : int -> int = "values_body"
external fail : int -> unit = "values_fail"
external bounce : int -> int = "values_bounce"
external swap : 'a * 'b -> 'b * 'a = "values_swap"

let () =
  register "joined" (fun () -> joined "text" 3 0.5 true 'c');
  register "six" (fun () -> six 1 2 3 4 5 6);
  register "nine" (fun () -> nine 1 "two" 3 4 5 6 7 8 9);
  register "nothing" nothing;
  register "narrow" narrow;
  register "body" body;
  register "bounce" (fun n -> 1 + bounce n);
  register "fail_in_rust" fail;
  register "swap" (fun () -> swap (1, "one") = ("one", 1))

(* ---- Rust values ---- *)

type rust

external make : int -> rust = "values_make"
external read : rust -> int = "values_read"

let kept : rust list ref = ref []

let () =
  register "keep" (fun n -> kept := make n :: !kept);
  register "sum_kept" (fun () -> List.fold_left (fun sum r -> sum + read r) 0 !kept);
  register "forget" (fun () -> kept := []; Gc.full_major (); Gc.full_major ());
  register "make_garbage" (fun n -> for i = 1 to n do ignore (Sys.opaque_identity (make i)) done);
  register "misuse" (fun () ->
      let r = make 1 in
      let refused f = match f () with _ -> false | exception (Failure _ | Invalid_argument _) -> true in
      refused (fun () -> ignore (compare r (make 1)))
      && Hashtbl.hash r = Hashtbl.hash (make 2)
      && refused (fun () -> ignore (Marshal.to_string r [])));
  register "compare_boxes" (fun (a : rust) (b : rust) -> compare a b);
  register "equal_boxes" (fun (a : rust) (b : rust) -> a = b);
  register "hash_box" (fun (a : rust) -> Hashtbl.hash a);
  register "sort_boxes" (fun (list : rust list) -> List.sort compare list);
  register "marshal_boxes" (fun (list : rust list) -> Marshal.to_string list []);
  register "overflow_by_box" (fun (r : rust) ->
      match Marshal.to_buffer (Bytes.create 100) 0 100 r [] with
      | _ -> 0
      | exception Failure _ -> 1);
  register "unmarshal_changed_box" (fun (r : rust) ->
      let data = Marshal.to_bytes r [] in
      let unmarshal data = match Marshal.from_bytes data 0 with (_ : Obj.t) -> () | exception Failure _ -> () in
      for i = 20 to Bytes.length data - 1 do
        for c = 0 to 255 do
          let changed = Bytes.copy data in
          Bytes.set_uint8 changed i c;
          unmarshal changed
        done;
        (* The length of the data after the header. *)
        let shorter = Bytes.copy data in
        Bytes.set_int32_be shorter 4 (Int32.of_int (i - 20));
        unmarshal shorter
      done);
  register "unmarshal_boxes" (fun text : rust list -> Marshal.from_string text 0);
  register "drop_in_domains" (fun n ->
      for _ = 1 to 3 do
        Multicore.spawn (fun () -> for i = 1 to n do ignore (Sys.opaque_identity (make i)) done; Gc.minor ())
      done;
      Multicore.join_all ())

(* The rest of the program in the guide (docs/guide/porting.md), besides
   tests/users/interop/words/words.ml. *)
let () = register "stress" Compaction.compact

(* ---- Rust functions ---- *)

let () =
  register "apply0" (fun f -> f ());
  register "apply1" (fun f x -> f x);
  register "map" List.map;
  register "sort" List.sort;
  register "partial" (fun f ->
      let f1 = f 1 in
      Gc.minor ();
      let f12 = f1 2 in
      Gc.full_major ();
      [ f12 3; f12 4; f1 5 6; f 7 8 9 ]);
  register "eight_of" (fun f -> f 1 2 3 4 5 6 7 8);
  register "over" (fun f -> f 1 2 3);
  register "in_tail_position" (fun f n ->
      let rec loop n = if n = 0 then f n else loop (n - 1) in
      loop n);
  register "many_calls" (fun f n ->
      let total = ref 0. in
      for i = 1 to n do
        let x = float_of_int i in
        total := !total +. f x +. x
      done;
      !total);
  register "catch" (fun f ->
      match f () with
      | n -> Printf.sprintf "returned %d" n
      | exception Not_found -> "Not_found"
      | exception Failure s -> "Failure " ^ s);
  register "functional_value" (fun f ->
      let refused g = match g () with _ -> false | exception (Failure _ | Invalid_argument _) -> true in
      refused (fun () -> ignore (f = f))
      && refused (fun () -> ignore (Marshal.to_string f []))
      && refused (fun () -> ignore (Marshal.to_string f [ Marshal.Closures ])));
  register "finalise_with" (fun f -> Gc.finalise f (ref 1));
  register "in_threads" (fun f n ->
      let run () = for i = 1 to n do ignore (f i) done in
      List.iter Thread.join (List.init 4 (fun _ -> Thread.create run ())));
  register "in_fiber" Multicore.in_fiber;
  register "finalise_in_fiber" (fun f ->
      Multicore.in_fiber (fun () ->
          Gc.finalise f (ref 1);
          Gc.full_major ()));
  register "in_domains" (fun f n ->
      for _ = 1 to 3 do Multicore.spawn (fun () -> for i = 1 to n do ignore (f i) done) done;
      Multicore.join_all ())

(* ---- references and lazy values ---- *)

let () =
  register "shared_ref" (let r = ref "static" in fun () -> r);
  register "append" (fun r s -> r := !r ^ s);
  register "set_float" (fun r x -> r := !r +. x);
  register "assign_in_domains" (fun r n ->
      for d = 1 to 2 do
        Multicore.spawn (fun () -> for i = 1 to n do r := String.make (d + (i land 7)) 'x' done)
      done);
  register "join_domains" Multicore.join_all;
  register "lazy_texts" (fun () ->
      [ lazy (String.make 3 'l'); Lazy.from_val "given"; Lazy.from_fun (fun () -> failwith "never") ]);
  register "force_text" (fun (text : string Lazy.t) -> ignore (Lazy.force text));
  register "lazy_numbers" (fun n ->
      let float = lazy (float_of_int n) and int = lazy (n + 1) and lazily = lazy (lazy n) in
      ignore (Lazy.force float, Lazy.force int, Lazy.force (Lazy.force lazily));
      (float, int, lazily));
  register "looks_at_itself" (fun look ->
      let rec itself = lazy (look itself; 5) in
      Lazy.force itself);
  register "last_constructor" (fun () -> Lazy.from_val (Obj.new_block Obj.last_non_constant_constructor_tag 1))

(* ---- collections ---- *)

module Words = Map.Make (String)
module Numbers = Set.Make (Int)

let rec from n () = if n > 1000 then raise Not_found else Seq.Cons (n, from (n + 1))

let () =
  register "words" (fun n ->
      List.fold_left (fun map i -> Words.add (Printf.sprintf "%05d" (i * 7919 mod 10007)) (float_of_int i) map)
        Words.empty (List.init n Fun.id));
  register "number_set" (fun n -> Numbers.of_list (List.init n (fun i -> -i)));
  register "words_of_seq" (fun seq -> Words.of_seq seq);
  register "numbers_of_seq" (fun seq -> Numbers.of_seq seq);
  register "numbers_of_list" Numbers.of_list;
  register "table_of_seq" (fun seq -> (Hashtbl.of_seq seq : (string, float) Hashtbl.t));
  register "table_to_seq" (fun table -> Hashtbl.to_seq (table : (string, float) Hashtbl.t));
  register "double_all" (fun table -> Hashtbl.filter_map_inplace (fun (_ : string) x -> Some (2. *. x)) table);
  register "seq_twice" (fun seq ->
      let a = List.of_seq seq in
      (a, List.of_seq seq));
  register "seq_in_domains" (fun seq ->
      let sum () = Seq.fold_left ( + ) 0 seq in
      let expected = sum () in
      for _ = 1 to 3 do Multicore.spawn (fun () -> for _ = 1 to 20 do assert (sum () = expected) done) done;
      Multicore.join_all ();
      expected);
  register "strings" (fun n -> Seq.map string_of_int (List.to_seq (List.init n Fun.id)));
  register "from" from;
  register "list_that_goes_round" (fun n ->
      let rec three = 1 :: 2 :: 3 :: three in
      List.init n Fun.id @ three);
  register "doubles" (fun n -> Bigarray.(Array1.init float64 c_layout n float_of_int));
  register "matrix" (fun () ->
      Bigarray.(Array2.of_array int16_signed fortran_layout [| [| 1; 2; 3 |]; [| 4; 5; 6 |] |]));
  register "cube" (fun () ->
      Bigarray.(Array3.of_array int8_unsigned c_layout [| [| [| 1; 2; 3 |]; [| 4; 5; 6 |] |] |]));
  register "genarray" (fun n ->
      let array = Bigarray.(Genarray.create int32 c_layout (Array.init n succ)) in
      Bigarray.Genarray.fill array 7l;
      array);
  register "complex" (fun () -> Bigarray.(Array1.create complex64 c_layout 3));
  register "filled_matrix" (fun (x : float) ->
      let array = Bigarray.(Array2.create float64 c_layout 2 3) in
      Bigarray.Array2.fill array x;
      array);
  register "ints" (fun () -> Bigarray.(Array1.of_array int c_layout [| min_int; -1; max_int |]));
  register "chars" (fun () -> Bigarray.(Array1.of_array char c_layout [| 'a'; '\255' |]));
  register "slice" (fun a -> Bigarray.Array1.sub a 2 3);
  register "part" (fun n (a : (float, Bigarray.float64_elt, Bigarray.c_layout) Bigarray.Array1.t) ->
      let open Bigarray in
      let all = genarray_of_array1 a in
      match n with
      | 0 -> genarray_of_array1 (Array1.sub a 1 3)
      | 1 -> Genarray.sub_left all 1 3
      | 2 -> Genarray.slice_left (reshape all [| 1; Array1.dim a |]) [| 0 |]
      | 3 -> Genarray.(change_layout (sub_right (change_layout all fortran_layout) 2 3) c_layout)
      | _ -> Genarray.sub_left (reshape all [| Array1.dim a; 1 |]) 1 3);
  register "parts_in_domains" (fun (a : (float, Bigarray.float64_elt, Bigarray.c_layout) Bigarray.Array1.t) ->
      let make () =
        for i = 1 to 3000 do
          let part = Sys.opaque_identity (Bigarray.Array1.sub a 1 3) in
          assert (part.{1} = 2.);
          if i mod 300 = 0 then Gc.full_major ()
        done in
      for _ = 1 to 3 do Multicore.spawn make done;
      Multicore.join_all ());
  register "behaves" (fun (a : (float, Bigarray.float64_elt, Bigarray.c_layout) Bigarray.Array1.t) ->
      let open Bigarray in
      let own = Array1.create float64 c_layout (Array1.dim a) in
      Array1.blit a own;
      let same b = compare a b = 0 && compare b a = 0 && a = b && Hashtbl.hash a = Hashtbl.hash b in
      let marshalled : (float, float64_elt, c_layout) Array1.t =
        Marshal.(from_string (to_string a []) 0) in
      let same_before = same own && same marshalled in
      own.{0} <- own.{0} +. 1.;
      Array1.fill marshalled 7.;
      same_before && compare a own < 0 && compare own a > 0 && a.{0} <> 7.);
  register "write_number" (fun (a : (float, Bigarray.float64_elt, Bigarray.c_layout) Bigarray.Array1.t) i x -> a.{i} <- x);
  register "sum_of_floats" (fun a ->
      let sum = ref 0. in
      for i = 0 to Bigarray.Array1.dim a - 1 do sum := !sum +. (Bigarray.Array1.get (a : (float, Bigarray.float64_elt, Bigarray.c_layout) Bigarray.Array1.t) i) done;
      !sum);
  register "sum_from_one" (fun a ->
      let a : (float, Bigarray.float64_elt, Bigarray.fortran_layout) Bigarray.Array1.t = a in
      let sum = ref 0. in
      for i = 1 to Bigarray.Array1.dim a do sum := !sum +. a.{i} done;
      !sum);
  register "sum_of_singles" (fun (a : (float, Bigarray.float32_elt, Bigarray.c_layout) Bigarray.Array1.t) ->
      let sum = ref 0. in
      for i = 0 to Bigarray.Array1.dim a - 1 do sum := !sum +. a.{i} done;
      !sum);
  register "sum_of_matrix" (fun a ->
      let a : (float, Bigarray.float64_elt, Bigarray.c_layout) Bigarray.Array2.t = a in
      let sum = ref 0. in
      for i = 0 to Bigarray.Array2.dim1 a - 1 do
        for j = 0 to Bigarray.Array2.dim2 a - 1 do sum := !sum +. a.{i, j} done
      done;
      !sum);
  register "sum_of_nativeints" (fun (a : (nativeint, Bigarray.nativeint_elt, Bigarray.c_layout) Bigarray.Array1.t) ->
      Nativeint.to_string (Nativeint.add a.{0} a.{1}))
