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
