(* The shape of a server: SIZE short tasks on a ring of WORKERS, which are domains (threads on OCaml 4). A worker begins a task
   with some roots on fresh values, and passes it to the next worker. The next worker reads the roots, replaces a session in its
   table by the first root (sessions live long), makes a root for the answer, and passes the task back. The first worker then
   reads and drops the remaining roots. *)

(* Messages from other workers, in order of arrival. *)
module Inbox = struct
  type 'a t = { mutex : Mutex.t; not_empty : Condition.t; items : 'a Queue.t }

  let create () =
    { mutex = Mutex.create (); not_empty = Condition.create (); items = Queue.create () }

  let push inbox x =
    Mutex.lock inbox.mutex;
    if Queue.is_empty inbox.items then Condition.signal inbox.not_empty;
    Queue.push x inbox.items;
    Mutex.unlock inbox.mutex

  (* Moves all messages to a queue; with [wait], waits until there is one. *)
  let take inbox ~wait queue =
    Mutex.lock inbox.mutex;
    while wait && Queue.is_empty inbox.items do Condition.wait inbox.not_empty inbox.mutex done;
    Queue.transfer inbox.items queue;
    Mutex.unlock inbox.mutex
end

(* The largest number of tasks that a worker has begun but not ended. *)
let in_flight = 32

let roots_per_task = 8

module Make (Cell : Cell.S) = struct
  type record = { task : int; name : string; body : int array }
  type task = { id : int; start : float; roots : record Cell.t list }
  type message = Ready | Request of task | Answer of task | Finished

  let fresh task = Cell.create { task; name = string_of_int task; body = Array.make 4 task }

  let read id cell =
    let { task; name; body } = Cell.get cell in
    assert (task = id && String.length name > 0 && body.(3) = id)

  (* Runs the work of worker [self], with its own [share] tasks. Returns the time of each of these
     tasks. *)
  let work inboxes self ~share ~sessions () =
    let workers = Array.length inboxes in
    let send_all message = Array.iter (fun inbox -> Inbox.push inbox message) inboxes in
    let next = inboxes.((self + 1) mod workers)
    and previous = inboxes.((self + workers - 1) mod workers) in
    let sessions = Array.init sessions fresh in
    let latencies = Array.make share 0. in
    let ready = ref 0 and begun = ref 0 and ended = ref 0 and finished = ref 0 in
    let begin_task () =
      let id = !begun in
      incr begun;
      let start = Measure.clock () in
      Inbox.push next (Request { id; start; roots = List.init roots_per_task (fun _ -> fresh id) })
    in
    let answer task =
      List.iter (read task.id) task.roots;
      let i = task.id * 7919 mod Array.length sessions in
      Cell.delete sessions.(i);
      sessions.(i) <- List.hd task.roots;
      Inbox.push previous (Answer { task with roots = fresh task.id :: List.tl task.roots })
    in
    let end_task task =
      List.iter (fun cell -> read task.id cell; Cell.delete cell) task.roots;
      latencies.(!ended) <- Measure.clock () -. task.start;
      incr ended;
      if !ended = share then send_all Finished
    in
    let handle = function
      | Ready -> incr ready
      | Request task -> answer task
      | Answer task -> end_task task
      | Finished -> incr finished
    in
    let queue = Queue.create () in
    send_all Ready;
    while !finished < workers do
      let may_begin = !ready = workers && !begun < share && !begun - !ended < in_flight in
      if may_begin then begin_task ();
      Inbox.take inboxes.(self) ~wait:(not may_begin) queue;
      Queue.iter handle queue;
      Queue.clear queue
    done;
    Array.iter Cell.delete sessions;
    latencies

  let run ~tasks ~workers =
    let share = tasks / workers and sessions = max 1 (tasks / 10 / workers) in
    let inboxes = Array.init workers (fun _ -> Inbox.create ()) in
    let start self = Worker.start (work inboxes self ~share ~sessions) in
    let latencies = Array.map Worker.join (Array.init workers start) in
    let creates = workers * ((share * (roots_per_task + 1)) + sessions) in
    (Array.concat (Array.to_list latencies), creates)
end

let percentiles = [ ("p50", 0.5); ("p90", 0.9); ("p99", 0.99); ("p99.9", 0.999); ("p99.99", 0.9999) ]

let run (module C : Cell.S) =
  let module S = Make (C) in
  let tasks = Parameters.int "SIZE" 1_000_000 and workers = Parameters.int "WORKERS" 2 in
  let start = Measure.clock () in
  let latencies, creates = S.run ~tasks ~workers in
  Measure.print "seconds" (Measure.clock () -. start);
  Array.sort Float.compare latencies;
  let n = Array.length latencies in
  let print (name, p) = Measure.print name latencies.(min (n - 1) (int_of_float (p *. float n))) in
  List.iter print percentiles;
  Measure.print "longest" latencies.(n - 1);
  Measure.print_count "creates" creates

let () = Program.on_domains ~facts:Program.[ Short 100_000 ] "server" run
