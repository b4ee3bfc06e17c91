type size = Small | Large | Custom of { grams : int } | Pair of int * string | Tuple of (int * string)
type order = { customer : string; size : size; price : float; note : string option; ids : (int32 * int64 * nativeint) }

let size = function
  | Small -> "small"
  | Large -> "large"
  | Custom { grams } -> Printf.sprintf "%d g" grams
  | Pair (n, s) -> Printf.sprintf "pair %d %s" n s
  | Tuple (n, s) -> Printf.sprintf "tuple %d %s" n s

let describe { customer; size = s; price; note; ids = a, b, c } =
  Printf.sprintf "%s %s %g %s %ld %Ld %nd" customer (size s) price (Option.value note ~default:"-") a b c

let same order = order

exception Out_of_stock of string * int
exception Refused of { by : string; order : order }
exception Closed

let refuse n order = match n with
  | 0 -> raise Closed
  | 1 -> raise (Out_of_stock (order.customer, n))
  | 2 -> raise (Refused { by = "OCaml"; order })
  | _ -> raise Not_found

let all ?(first = false) ~last () = (String.concat "," (List.map string_of_int last), [| first; not first |])
let currency = "EUR"

type metres = { metres : float } [@@unboxed]
type seconds = Seconds of float [@@unboxed]
type point = { x : float; y : float }
type run = { distance : metres; time : seconds }

let scale k { distance = { metres }; time = Seconds s } = { distance = { metres = k *. metres }; time = Seconds (k *. s) }
let middle points =
  let sum f = Array.fold_left (fun sum p -> sum +. f p) 0. points /. float_of_int (Array.length points) in
  { x = sum (fun p -> p.x); y = sum (fun p -> p.y) }
let lengths = Array.fold_left (fun sum { metres } -> sum +. metres) 0.

type ('k, 'v) table = Empty | Entry of { key : 'k; value : 'v; rest : ('k, 'v) table }
type 'a boxed = Box of 'a [@@unboxed]

let add key value rest = Entry { key; value; rest }
let rec find k = function
  | Empty -> None
  | Entry { key; value; rest } -> if key = k then Some value else find k rest
let twice f x = f (f x)
let rec names = function Empty -> [] | Entry { key; rest; _ } -> Box key :: names rest
let empty = Empty

type colour = [ `Red | `Mixed of int * colour | `Named of string | `type' ]
type amount = { cents : int }
type counter = { name : string; mutable count : int }
type _ expr = Int : int -> int expr | Is : int expr * int -> bool expr
type stack = int list

let mix (l : colour list) : colour = List.fold_left (fun mixed c -> match c with `Red -> `Mixed (1, mixed) | c -> c) `Red l
let amount cents = { cents }
let cents { cents } = cents
let counter name = { name; count = 0 }
let count counter = counter.count <- counter.count + 1; counter.count
let expr n = Int n
let rec eval : type a. a expr -> a = function Int n -> n | Is (e, n) -> eval e = n
let test e n = Is (e, n)
let push stack n = n :: stack
let new_stack () = []
let depth = List.length
let adder a b = a + b

type change = order -> order
let discount percent order = { order with price = order.price *. (1. -. (percent /. 100.)) }

module Inner = struct
  type string = Text of order list
  let join (Text orders) = List.length orders
end

let change counter points ~until =
  Multicore.spawn (fun () ->
      let n = ref 0 in
      while until () do
        for _ = 1 to 1000 do
          incr n;
          counter.count <- !n;
          points.(!n mod Array.length points) <- { x = float_of_int !n; y = float_of_int !n }
        done
      done)
let wait = Multicore.join_all

external audit : order -> size -> string = "bound_audit"
external call : (unit -> bool) -> bool = "bound_call"
external six : int -> int -> int -> int -> int -> float -> float = "bound_six_bytecode" "bound_six"
external pick : 'a list -> 'a = "bound_pick"
external norm : (float[@unboxed]) -> (float[@unboxed]) -> (float[@unboxed]) = "bound_norm_bytecode" "bound_norm" [@@noalloc]
external sum :
  (int[@untagged]) -> (int32[@unboxed]) -> (int64[@unboxed]) -> (nativeint[@unboxed]) -> (float[@unboxed]) -> int -> (int64[@unboxed])
  = "bound_sum_bytecode" "bound_sum"
external flip : unit -> bool -> char -> bool = "bound_flip" [@@noalloc]
external norm_in_bytecode : float -> float -> float = "test_norm_in_bytecode"
external sum_in_bytecode : int -> int32 -> int64 -> nativeint -> float -> int -> int64 = "in native code only" "test_sum_in_bytecode"
external quiet : unit -> unit = "bound_quiet" [@@noalloc]
external traces : unit -> bool = "bound_traces" [@@noalloc]
external next32 : (int32[@unboxed]) -> (int32[@unboxed]) = "unavailable" "bound_next32" [@@noalloc]

let by_rust order =
  [ audit order order.size;
    string_of_float (six 1 2 3 4 5 0.5);
    (pick [ order; order ]).customer;
    string_of_int (pick [ 1; 2; 3 ]);
    (match pick [] with () -> "nothing" | exception Closed -> "closed" | exception Failure text -> text) ]

let by_rust_plain () =
  quiet ();
  [ string_of_float (norm 3. 4.);
    string_of_float (norm_in_bytecode 5. 12.);
    Int64.to_string (sum (-1) (-2l) (-3L) (-4n) (-5.) (-6));
    Int64.to_string (sum_in_bytecode 1 2l 3L 4n 5. 6);
    string_of_bool (flip () true 'f');
    string_of_bool (flip () true 'x');
    Int32.to_string (next32 (-8l)) ]

let by_rust_in_fibers () =
  [ traces ();
    Multicore.in_fiber traces;
    call (fun () -> Multicore.in_fiber traces);
    Multicore.in_fiber (fun () -> call traces);
    Multicore.in_fiber (fun () -> call (fun () -> Multicore.in_fiber traces)) ]

let anything n = if n = 0 then Obj.repr 0.5 else Obj.repr n
let sort_of x = if Obj.is_int x then "int" else if Obj.tag x = Obj.double_tag then "float" else "block"

module Words = Map.Make (String)

let upper c = Uchar.of_int (Uchar.to_int c - 32)
let cell = ref
let exclaim cell = cell := !cell ^ "!"
let later () = lazy (String.make 3 'l')
let is_done = Lazy.is_val
let force l = ignore (Lazy.force l)
let table pairs = Hashtbl.of_seq pairs
let longest words = Words.fold (fun word _ longest -> if String.length word > String.length longest then word else longest) words ""

open Bigarray

type image = { pixels : (int, int8_unsigned_elt, fortran_layout) Array2.t; title : string }

let matrix n m =
  let a = Array2.create float64 c_layout n m in
  for i = 0 to n - 1 do for j = 0 to m - 1 do a.{i, j} <- float_of_int ((10 * i) + j) done done;
  a
let trace a =
  let sum = ref 0. in
  for i = 0 to min (Array2.dim1 a) (Array2.dim2 a) - 1 do sum := !sum +. a.{i, i} done;
  !sum
let row = Array2.slice_left
let total a =
  let sum = ref 0. in
  for i = 0 to Array1.dim a - 1 do sum := !sum +. a.{i} done;
  !sum
let sizes a = Array.to_list (Genarray.dims a)
let tensor sizes =
  let a = Genarray.create int c_layout (Array.of_list sizes) in
  Genarray.fill a (-1);
  a
let image () =
  { pixels = Array2.of_array int8_unsigned fortran_layout [| [| 1; 2 |]; [| 3; 4 |] |]; title = "four" }
