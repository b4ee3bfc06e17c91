(* An OCaml program that calls Rust (table.rs). The Rust code is a sorted table that holds OCaml
   values in roots. OCaml owns the table. When the table is garbage, Rust drops it and its roots.

   Run it: `make -C examples/ocaml_main` *)

module Table : sig
  type 'a t

  val create : unit -> 'a t
  val set : 'a t -> string -> 'a -> unit
  val get : 'a t -> string -> 'a
  val iter_from : 'a t -> string -> (string -> 'a -> unit) -> unit
  val length : 'a t -> int
end = struct
  type 'a t

  external create : unit -> 'a t = "table_create"
  external set : 'a t -> string -> 'a -> unit = "table_set"
  external get : 'a t -> string -> 'a = "table_get"
  external iter_from : 'a t -> string -> (string -> 'a -> unit) -> unit = "table_iter_from"
  external length : 'a t -> int = "table_length"
end

exception Enough

let () =
  let table = Table.create () in
  for i = 0 to 9_999 do
    Table.set table (Printf.sprintf "%04d" i) (ref i)
  done;
  Gc.compact ();
  assert (Table.length table = 10_000);
  (* The table returns the values themselves, not copies. *)
  incr (Table.get table "0042");
  assert (!(Table.get table "0042") = 43);
  (match Table.get table "none" with _ -> assert false | exception Not_found -> ());
  (* The function's exceptions pass through Rust. *)
  let seen = ref [] in
  (try
     Table.iter_from table "0500" (fun key value ->
         if List.length !seen = 3 then raise Enough;
         Table.set table key (ref 0);
         seen := (key, !value) :: !seen)
   with Enough -> ());
  assert (List.rev !seen = [ ("0500", 500); ("0501", 501); ("0502", 502) ]);
  (* Garbage tables are dropped, and so are the roots in them. *)
  let collected = ref 0 in
  for _ = 1 to 100 do
    let table = Table.create () in
    let value = ref 0 in
    Gc.finalise (fun _ -> incr collected) value;
    Table.set table "value" value
  done;
  for _ = 1 to 5 do Gc.full_major () done;
  assert (!collected >= 99);
  Printf.printf "%d entries; %d of 100 garbage tables were dropped with their values\n"
    (Table.length table) !collected
