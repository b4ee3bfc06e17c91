(* SPDX-License-Identifier: MIT *)
(* See stubs.c. With an argument: the control, where a cycle begins in between. *)
external create : 'a -> int = "compaction_create"
external owner : int -> Obj.t = "compaction_owner"
external finish : int -> unit = "compaction_finish"
external finalised : unit -> int = "compaction_finalised"
let n = 6000
let stage = Atomic.make 0
let mutex = Mutex.create () and cond = Condition.create ()
let set i = Mutex.protect mutex (fun () -> Atomic.set stage i; Condition.broadcast cond)
let wait i = Mutex.protect mutex (fun () -> while Atomic.get stage < i do Condition.wait cond mutex done)
let () =
  let mine = create "main" in ignore mine;
  let vals = Array.init n (fun i -> (i, string_of_int i)) in
  let handles = Array.make n 0 in
  let d = Domain.spawn (fun () ->
    Array.iteri (fun i v -> handles.(i) <- create v) vals;
    set 1; wait 2) in
  wait 1;
  let free = Array.make (3*n) (Obj.repr 0) and own = Array.make n (Obj.repr 0) and kept = Array.make n (Obj.repr 0) in
  for i = 0 to n-1 do
    for j = 0 to 2 do free.(3*i+j) <- Obj.repr (ref i, i) done;
    own.(i) <- owner handles.(i); kept.(i) <- Obj.repr (i, i)
  done;
  Gc.full_major ();
  Array.fill free 0 (3*n) (Obj.repr 0);
  Gc.full_major (); Gc.full_major ();
  Array.fill own 0 n (Obj.repr 0);
  if Array.length Sys.argv < 2 then begin
    finish 0; set 2; Domain.join d; Gc.minor ();
    Printf.printf "finalised before %d\n%!" (finalised ());
    finish 1
  end else begin finish 0; set 2; Domain.join d; Gc.minor (); finish 0 ; finish 1 end;
  Printf.printf "finalised after %d\n%!" (finalised ());
  let bad = ref 0 in
  Array.iteri (fun i v -> let o = Obj.repr v in if not (Obj.is_block o && Obj.size o = 2 && Obj.field o 0 = Obj.repr i) then incr bad) vals;
  Printf.printf "wrong values: %d of %d\n%!" !bad n;
  Gc.full_major (); ignore (Sys.opaque_identity kept);
  print_endline "survived"
