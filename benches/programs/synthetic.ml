(* Roots and values are created and dropped with fixed probabilities. The number created depends on the
   other content of the minor heap. *)

open Parameters

module Make (Cell : Cell.S) = struct
  let n = int "N" 8
  let small_roots = int "SMALL_ROOTS" 10_000
  let young_ratio = rate "YOUNG_RATIO" 1.
  let large_roots = int "LARGE_ROOTS" 20
  let small_root_promotion_rate = rate "SMALL_ROOT_PROMOTION_RATE" 0.2
  let large_root_promotion_rate = rate "LARGE_ROOT_PROMOTION_RATE" 1.
  let root_survival_rate = rate "ROOT_SURVIVAL_RATE" 0.99
  let gc_promotion_rate = rate "GC_PROMOTION_RATE" 0.1
  let gc_survival_rate = rate "GC_SURVIVAL_RATE" 0.5

  let creates = ref 0
  let create x = incr creates; Cell.create x
  let choose rate = Random.float 1. < rate

  let round () =
    let small = ref [] and large = ref [] and tracked = ref [] in
    for _ = 1 to 1 lsl n do
      let small_count = ref 0 and large_count = ref 0 in
      let small_limit = int_of_float (float small_roots *. young_ratio) in
      let free = ref max_int in
      (* until the next minor collection *)
      while Gc.get_minor_free () < !free do
        free := Gc.get_minor_free ();
        if !small_count < small_limit then begin
          incr small_count;
          let cell = create (Obj.repr (Some !small_count)) in
          if choose small_root_promotion_rate then small := cell :: !small else Cell.delete cell
        end;
        if !large_count < large_roots then begin
          incr large_count;
          let cell = create (Obj.repr (Array.make 512 !large_count)) in
          if choose large_root_promotion_rate then large := cell :: !large else Cell.delete cell
        end;
        let value = ref 0 in
        if choose gc_promotion_rate then tracked := value :: !tracked
      done;
      let keep cell = choose root_survival_rate || (Cell.delete cell; false) in
      small := List.filter keep !small;
      large := List.filter keep !large;
      tracked := List.filter (fun _ -> choose gc_survival_rate) !tracked
    done;
    List.iter Cell.delete !small;
    List.iter Cell.delete !large

  let run () =
    Random.init 42;
    Gc.minor (); (* each step of a round ends with a minor collection, so the first step must also begin
                    after one *)
    for _ = 1 to 10 do round () done
end

let run (module C : Cell.S) =
  let module S = Make (C) in
  Measure.print_time S.run;
  Measure.print_count "creates" !S.creates

let () = Program.on_cells ~facts:Program.[ Deterministic; Creates_vary ] "synthetic" run
