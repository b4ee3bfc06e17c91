(* Clocks, memory, and the printing of figures as "name value". The units are seconds and bytes. *)

external clock : unit -> float = "bench_clock"
external resident : unit -> int = "bench_resident"
external peak_resident : unit -> int = "bench_peak_resident"

(* Does not print infinities and nan, which are ratios to 0. *)
let print name x = if Float.is_finite x then Printf.printf "%s %.9f\n%!" name x
let print_count name n = Printf.printf "%s %d\n%!" name n
let time f = let t = clock () in f (); clock () -. t
let print_time f = print "seconds" (time f)
