type visit = key:string -> data:int -> string
type counter = { next : ?by:int -> unit -> int; name : string }

let fold list ~(f : visit) = String.concat "," (List.map (fun (key, data) -> f ~key ~data) list)
let partial ~(f : visit) = let f = f ~data:2 in f ~key:"b" ^ f ~key:"c"
let separated () : visit option = Some (fun ~key ~data -> key ^ "=" ^ string_of_int data)
let counter name =
  let n = ref 0 in
  { next = (fun ?(by = 1) () -> n := !n + by; !n); name }
let twice { next; name } =
  let once = next () in
  Printf.sprintf "%s %d %d" name once (next ~by:10 ())
let each (iteri : f:(key:int -> data:string -> unit) -> unit) =
  let b = Buffer.create 10 in
  iteri ~f:(fun ~key ~data -> Printf.bprintf b "%d%s " key data);
  Buffer.contents b

let at list i = match List.nth_opt list i with Some x -> `Ok x | None -> `Invalid (string_of_int i)
let of_list (list : ('k * 'v) list) : [> `Twice of 'k * 'v list | `Ok of ('k, 'v) Hashtbl.t ] =
  let table = Hashtbl.create 10 in
  let add (k, v) = Hashtbl.add table k v in
  List.iter add list;
  match List.find_opt (fun (k, _) -> List.length (Hashtbl.find_all table k) > 1) list with
  | Some (k, _) -> `Twice (k, Hashtbl.find_all table k)
  | None -> `Ok table
type 'a parser = string -> [ `Error of string | `Ok of 'a ]
let parse (parser : int parser) text = match parser text with `Ok n -> n + 1 | `Error s -> String.length s
let get (table : ('k, 'v) Hashtbl.t) k = Hashtbl.find_opt table k
let sides (f : [ `Both of 'a * 'b | `Left of 'a ref | `Right of 'b ] -> string) (a : 'a) (b : 'b) =
  let left = f (`Both (a, b)) ^ f (`Left (ref a)) in
  left ^ f (`Right b)
let first (x : [ `Pair of 'a * 'a | `One of 'a | `Table of ('a, int) Hashtbl.t ]) = match x with
  | `Pair (a, _) | `One a -> Some a
  | `Table t -> Hashtbl.fold (fun k _ _ -> Some k) t None
