(* For programs with very many live roots: cache.ml, churn.ml, delete_pause.ml, majors.ml, memory.ml, pause.ml. *)

external watch_hook : unit -> bool = "bench_watch_hook"
external longest_major_hook : unit -> float = "bench_longest_major_hook"

let size = Parameters.int "SIZE"

let shuffled n =
  let a = Array.init n Fun.id in
  let state = Random.State.make [| 7 |] in
  for i = n - 1 downto 1 do
    let j = Random.State.full_int state (i + 1) in
    let x = a.(i) in
    a.(i) <- a.(j);
    a.(j) <- x
  done;
  a

let major_collections () = (Gc.quick_stat ()).major_collections

let print_ten_majors () =
  Measure.print "ten_majors" (Measure.time (fun () -> for _ = 1 to 10 do Gc.major () done))

(* Calls [step] again and again, until [cycles] major cycles have ended. After each stretch of 100 calls, calls
   [note] with the current time, and how long the stretch took. *)
let stretches step ~cycles note =
  let last = major_collections () + cycles and before = ref (Measure.clock ()) in
  while major_collections () < last do
    for _ = 1 to 100 do step () done;
    let now = Measure.clock () in
    note now (now -. !before);
    before := now
  done

(* To be called before [cycles] major cycles are measured. A heap of almost only live values grows in each cycle, by less each
   time, up to a stable size. A sixth of the cycles is enough for that. No collection is forced. Before OCaml 5.5 a forced
   collection counts as work done in advance: the next cycle idles until that many words were allocated, and leaves far more
   garbage than any other cycle. *)
let warm_up step ~cycles = stretches step ~cycles:((cycles + 5) / 6) (fun _ _ -> ())

(* Returns a function that prints the longest scan of the roots in a major cycle from now on. *)
let watch () =
  let has_hook = watch_hook () in
  fun () -> if has_hook then Measure.print "longest_major_hook" (longest_major_hook ())

module Make (Cell : Cell.S) = struct
  let room n : int ref Cell.t array = Array.make n (Obj.magic 0)

  (* n roots on n blocks of the major heap, in random order of addresses. *)
  let random n =
    let cells = room n in
    let values = Array.init n (fun i -> ref i) in
    Gc.minor ();
    Array.iteri (fun i j -> cells.(i) <- Cell.create values.(j)) (shuffled n);
    cells

  (* The same, with the result of [watch ()]. A cycle has just begun. *)
  let watched n =
    let cells = random n in
    Gc.full_major ();
    let print_longest_hook = watch () in
    Gc.full_major ();
    (cells, print_longest_hook)
end
