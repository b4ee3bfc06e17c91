type log

external create : string -> log = "journal_create"
external write : log -> string -> unit = "journal_write"

let fill log lines =
  List.iter (write log) lines;
  write log "end";
  log

let open_ = create
