(* The memory of very many live roots. *)

open Measure

external pools : unit -> int = "bench_pools"
external slots_per_pool : unit -> int = "bench_slots_per_pool"

(* Checks that n roots, created one after another in new pools, have filled these pools. *)
let check_pools n =
  let slots = slots_per_pool () in
  if slots > 0 then begin
    print_count "pools" (pools ());
    assert (pools () = (n + slots - 1) / slots)
  end

let run (module C : Cell.S) =
  let module M = Many_roots.Make (C) in
  let n = Many_roots.size 10_000_000 in
  let values = Array.init n (fun _ -> ref 0) and cells = M.room n in
  let create i = cells.(i) <- C.create values.(i) in
  Gc.full_major ();
  let before = resident () in
  for i = 0 to n - 1 do create i done;
  if C.in_pools then check_pools n;
  let full = resident () - before in
  print "bytes_per_root" (float full /. float n);
  Random.init 3;
  let deleted = Array.init n (fun _ -> Random.int 4 <> 0) in
  let grown = resident () - before - full in
  Array.iteri (fun i deleted -> if deleted then C.delete cells.(i)) deleted;
  Array.iteri (fun i deleted -> if deleted then create i) deleted;
  print "growth_after_refill" (float (resident () - before - grown) /. float full);
  for i = 0 to n - 1 do C.delete cells.(i); cells.(i) <- Obj.magic 0 done;
  for _ = 1 to 5 do Gc.full_major () done;
  print "kept" (float (resident () - before - grown) /. float full);
  ignore (Sys.opaque_identity (values, cells, deleted))

let () = Program.on_cells ~facts:Program.[ Untimed ] "memory" run
