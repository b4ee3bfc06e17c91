(* What was decided about the functions of OCaml's libraries. A test compares the functions with the guide's table, which says what
   callers promise, and the libraries that are installed with tests/bindings/externals.txt. *)

(* Modules whose functions take or make values of any type. *)
let excluded = [ "Stdlib__Obj"; "Stdlib__Marshal"; "Stdlib__Callback"; "CamlinternalLazy"; "CamlinternalMod"; "CamlinternalOO" ]

(* Modules that run code of any kind, or read memory that other processes write. *)
let unchecked_modules = [ "Dynlink"; "Runtime_events" ]

type versions = All | Ocaml4 | Ocaml5

(* Functions that are unsafe, though their names do not say so, and why. UnixLabels and BytesLabels have
   them, too. *)
let unchecked = [
  All, [ "Stdlib__Lexing.engine"; "Stdlib__Lexing.new_engine" ], "C code does not check the tables";
  All, [ "Str.replace_matched" ], "C code does not check the string";
  All, [ "Stdlib__Gc.set"; "Stdlib__Gc.Tweak.set" ], "C code does not check the settings";
  All, [ "Str.global_replace"; "Str.replace_first" ],
    "C code copies groups of the last match, which another thread may have made in a longer string";
  All, [ "Unix.close"; "Unix.dup2" ], "what is closed twice, or used after it was closed, may be a file of Rust's";
  All, [ "Unix.in_channel_of_descr"; "Unix.out_channel_of_descr"; "Unix.descr_of_in_channel"; "Unix.descr_of_out_channel";
         "Unix.open_connection"; "Unix.establish_server" ], "a descriptor may have two channels, each of which closes it";
  All, [ "Unix.closedir"; "Unix.readdir" ], "another thread may close the folder that is read, or read a name into the same memory";
  All, [ "Unix.putenv"; "Unix.unsetenv" ], "they free memory that Rust and C read without OCaml's lock";
  All, [ "Unix.map_file" ], "the memory is gone when the file becomes shorter";
  All, [ "Unix.fork" ], "the child has no other threads: what they held or were changing stays so";
  Ocaml5, [ "Unix.getpwnam"; "Unix.getpwuid"; "Unix.getgrnam"; "Unix.getgrgid"; "Unix.getservbyname"; "Unix.getservbyport";
            "Unix.getprotobyname"; "Unix.getprotobynumber"; "Unix.getlogin" ],
    "two domains may ask C's data bases at the same time, and C gives both the same memory";
  Ocaml4, [ "Stdlib__Bigarray.reshape"; "Stdlib__Bigarray.reshape_2"; "Stdlib__Bigarray.reshape_3" ],
    "C code does not check the sizes";
  Ocaml4, [ "Stdlib__Bytes.escaped" ],
    "it writes as many bytes as it needs now, behind the end if another thread has changed them since it looked";
  All, [ "Stdlib__Lazy.force"; "Stdlib__Lazy.force_val" ],
    "a lazy value that two threads force may become a closure (4); the collector, on behalf of another domain, may undo its change (5)";
  Ocaml5, [ "Stdlib__Gc.compact" ], "on 5.3 and 5.4 it visits stacks of fibers that are gone";
  Ocaml4, [ "Thread.exit" ], "it jumps over the frames of the Rust code that calls it";
  Ocaml4, [ "ThreadUnix.open_connection" ], "as that of Unix" ]

(* Copies of what weak pointers point to may be copies of a continuation. *)
let makes_copies path =
  List.exists (fun m -> Names.starts_with (m ^ ".") path) [ "Stdlib__Weak"; "Stdlib__Ephemeron" ]
  && Filename.check_suffix path "_copy"

(* Primitives that give a string to C's `printf` as its format. OCaml 4 has some of them in `Int32`, `Int64` and `Nativeint`. *)
let unchecked_primitives =
  [ "caml_format_int"; "caml_format_float"; "caml_int32_format"; "caml_int64_format"; "caml_nativeint_format" ]

let is_unchecked path =
  let is_here = function
    | All -> true
    | Ocaml4 -> Sys.ocaml_version.[0] = '4'
    | Ocaml5 -> Sys.ocaml_version.[0] <> '4' in
  let plain = Names.replace "Labels." "." path in
  List.exists (fun (versions, functions, _) -> is_here versions && List.mem plain functions) unchecked
  || List.exists (fun m -> Names.starts_with (m ^ ".") path) unchecked_modules
  || makes_copies path
