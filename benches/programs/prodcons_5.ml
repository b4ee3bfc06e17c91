(* Half of the domains create cells. The other half read and delete them. One queue passes the cells
   on, in batches. With DOMS=1 one domain does both, a batch at a time. *)

(* A bounded queue for any number of producers and consumers. *)
module Bounded_queue = struct
  type 'a t =
    { mutex : Mutex.t; not_full : Condition.t; not_empty : Condition.t; items : 'a Queue.t;
      capacity : int }

  let create capacity =
    { mutex = Mutex.create (); not_full = Condition.create (); not_empty = Condition.create ();
      items = Queue.create (); capacity }

  let push q x =
    Mutex.lock q.mutex;
    while Queue.length q.items = q.capacity do Condition.wait q.not_full q.mutex done;
    Queue.push x q.items;
    Condition.signal q.not_empty;
    Mutex.unlock q.mutex

  let pop q =
    Mutex.lock q.mutex;
    while Queue.is_empty q.items do Condition.wait q.not_empty q.mutex done;
    let x = Queue.pop q.items in
    Condition.signal q.not_full;
    Mutex.unlock q.mutex;
    x
end

let run (module C : Cell.S) =
  let doms = Parameters.int "DOMS" 2 and batch = Parameters.int "BATCH" 100 in
  let pairs = max 1 (doms / 2) in
  let rounds = Parameters.int "SIZE" 10_000_000 / (batch * pairs) in
  let produce () = Array.init batch (fun i -> C.create (ref i)) in
  let consume cells =
    Array.fold_left (fun sum c -> let x = !(C.get c) in C.delete c; sum + x) 0 cells
  in
  let queue = Bounded_queue.create 64 in
  let producer () = for _ = 1 to rounds do Bounded_queue.push queue (produce ()) done in
  let consumer () =
    let sum = ref 0 in
    for _ = 1 to rounds do sum := !sum + consume (Bounded_queue.pop queue) done;
    !sum
  in
  let both () =
    let sum = ref 0 in
    for _ = 1 to rounds do sum := !sum + consume (produce ()) done;
    !sum
  in
  let sum = ref 0 in
  Measure.print_time (fun () ->
      if doms = 1 then sum := both ()
      else begin
        let consumers = List.init pairs (fun _ -> Domain.spawn consumer) in
        let producers = List.init pairs (fun _ -> Domain.spawn producer) in
        List.iter Domain.join producers;
        List.iter (fun domain -> sum := !sum + Domain.join domain) consumers
      end);
  assert (!sum = pairs * rounds * (batch * (batch - 1) / 2));
  Measure.print_count "creates" (pairs * rounds * batch)

let () = Program.on_domains "prodcons" run
