(* The OCaml side of cache.rs: formulas such as "2*x*x + 1", compiled to closures. *)

let compile text : float -> float =
  let position = ref 0 in
  let rec peek () =
    if !position = String.length text then None
    else if text.[!position] = ' ' then (incr position; peek ())
    else Some text.[!position]
  in
  let rec number n =
    match peek () with
    | Some ('0' .. '9' as c) -> incr position; number ((10. *. n) +. float_of_string (String.make 1 c))
    | _ -> n
  in
  let factor () =
    match peek () with
    | Some 'x' -> incr position; fun x -> x
    | Some '0' .. '9' -> let n = number 0. in fun _ -> n
    | _ -> failwith (Printf.sprintf "%S: expected a number or x at %d" text !position)
  in
  let rec operators operator next apply left =
    if peek () <> Some operator then left
    else begin
      incr position;
      let right = next () in
      operators operator next apply (fun x -> apply (left x) (right x))
    end
  in
  let product () = operators '*' factor ( *. ) (factor ()) in
  let formula = operators '+' product ( +. ) (product ()) in
  if peek () <> None then failwith (Printf.sprintf "%S: expected the end at %d" text !position);
  formula

let () = Callback.register "formula.compile" compile
