(* Several domains hand roots around (OCaml 5): producers send messages through a queue that is written in Rust
   (mailbox.rs), consumers take them out. The roots in the queue keep the messages alive, whichever domain collects; a
   root that another domain drops goes back to the one that made it, also when that has ended.

   Run it: `make -C examples domains` *)

type message = { sender : int; text : string }

external send : message -> unit = "mailbox_send"
external receive : unit -> message = "mailbox_receive"
external stats : unit -> int * int = "mailbox_stats"

let messages = 20_000
let stop = { sender = -1; text = "" }

let produce sender () =
  for i = 1 to messages do
    send { sender; text = string_of_int i }
  done

(* The sum of the numbers that it gets. *)
let consume () =
  let rec loop sum =
    let message = receive () in
    if message.sender < 0 then sum else loop (sum + int_of_string message.text)
  in
  loop 0

let () =
  let consumers = List.init 2 (fun _ -> Domain.spawn consume) in
  let producers = List.init 2 (fun sender -> Domain.spawn (produce sender)) in
  List.iter Domain.join producers;
  List.iter (fun _ -> send stop) consumers;
  let sum = List.fold_left (fun sum consumer -> sum + Domain.join consumer) 0 consumers in
  assert (sum = messages * (messages + 1));
  Gc.full_major ();
  let live, elsewhere = stats () in
  assert (live = 0);
  Printf.printf "%d messages arrived; %d roots were dropped by another domain\n" (2 * messages) elsewhere
