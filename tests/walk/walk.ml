(* The OCaml side of tests/walk: functions that only OCaml code can have. *)

external actor : int -> unit = "walk_actor"
external steps : int -> int -> int = "walk_steps"
external drop : int -> unit = "walk_drop"
external echo : string -> int -> string = "walk_echo"
external assumed : int -> int = "walk_assumed"

let register name f = Callback.register ("walk." ^ name) f
let opaque = Sys.opaque_identity

(* ---- values ---- *)

let adder n = opaque (fun x -> x + n)

(* The second of two closures in one block: an infix pointer. *)
let second_adder n =
  let rec first x y = if y = 0 then x else second (x + y)
  and second x = if opaque true then x + n else first x 1 in
  if opaque true then second else first 0

let () =
  register "adder" adder;
  register "second_adder" second_adder;
  register "same" (fun (x : Obj.t) -> opaque x);
  register "fail" (fun text -> failwith text);
  register "describe" (function Failure text -> text | _ -> "another exception");
  register "six" (fun a b c d e f -> ((((((((((a * 3) + b) * 3) + c) * 3) + d) * 3) + e) * 3) + f));
  register "echo" (fun text times ->
      echo text times = String.concat "" (List.init times (fun _ -> text)))

(* ---- shelves: arrays of values of any type ---- *)

let () =
  register "new_shelf" (fun n -> Obj.repr (Array.make n (Obj.repr 0)));
  register "put" (fun shelf i (x : Obj.t) -> Obj.set_field shelf i x);
  register "peek" (fun shelf i -> Obj.field shelf i);
  register "take" (fun shelf i ->
      let x = Obj.field shelf i in
      Obj.set_field shelf i (Obj.repr 0);
      x)

(* ---- the collector ---- *)

let churn n =
  let rec go kept n = if n = 0 then kept else go (opaque (Bytes.make (n land 255) 'x') :: kept) (n - 1) in
  ignore (opaque (go [] n))

(* Blocks of the major heap that are garbage at once, to overwrite what was freed. *)
let trash n =
  for i = 1 to n do
    ignore (opaque (Array.make (257 + (i land 63)) 0xdead))
  done

let () =
  register "collect" (fun how n ->
      match how with
      | 0 -> Gc.minor ()
      | 1 -> ignore (Gc.major_slice n)
      | 2 -> Gc.major ()
      | 3 -> Gc.full_major ()
      | 4 -> Compaction.compact ()
      | 5 -> Gc.set { (Gc.get ()) with minor_heap_size = 4096 lsl (n land 7) }
      | 6 -> Gc.set { (Gc.get ()) with space_overhead = 20 + (n land 255) }
      | 7 -> churn n
      | 8 -> trash n
      | _ -> Thread.yield ())

(* The root goes with the finaliser, at once or when the block is old. *)
let kept = Array.init 64 (fun _ -> Atomic.make (ref 0))

let () =
  register "finalise" (fun address how ->
      let block = ref address in
      if how land 1 = 0 then Gc.finalise (fun r -> drop !r) block
      else Gc.finalise_last (fun () -> drop address) block;
      if how land 2 = 0 then Atomic.set kept.((how lsr 2) land 63) block);
  register "forget" (fun _ _ -> Array.iter (fun place -> Atomic.set place (ref 0)) kept)

(* ---- who calls Rust, and where ---- *)

let () =
  register "steps" (fun address how ->
      match how with
      | 0 -> steps address how
      | 1 ->
        let kept = String.make 100 'k' in
        let n = try steps address how with e -> raise e in
        if opaque kept <> String.make 100 'k' then failwith "a local variable was lost";
        n
      | 2 -> assumed address
      | _ ->
        let outcome = ref (Ok 0) in
        let body () = outcome := try Ok (steps address how) with e -> Error e in
        if how = 3 then Thread.join (Thread.create body ()) else Domains.join (Domains.spawn body);
        (match !outcome with Ok n -> n | Error e -> raise e))

(* ---- the actors of other domains ---- *)

let in_domain domain threads =
  let number i = (domain * 100) + i in
  let others = List.init threads (fun i -> Thread.create actor (number (i + 1))) in
  actor (number 0);
  List.iter Thread.join others

let domains = ref []

let () =
  register "start" (fun n threads ->
      domains := List.init (n - 1) (fun i -> Domains.spawn (fun () -> in_domain (i + 1) threads)));
  register "join" (fun _ _ -> List.iter Domains.join !domains)
