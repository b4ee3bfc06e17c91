(* The executable is user 0 of boxroots. Plugins are users 1, 2, ... *)
external load : string -> bool -> int = "host_load"
external is_loaded : string -> bool = "host_is_loaded"
external close : int -> bool = "host_close"
external setup : int -> bool = "host_setup"
external status : int -> int = "host_status"
external error : int -> string = "host_error"
external live : int -> int = "host_live"
external create : int -> string -> int = "host_create"
external get : int -> int -> string = "host_get"
external modify : int -> int -> string -> int = "host_modify"
external delete : int -> int -> unit = "host_delete"
external also_in_a_child : (unit -> unit) -> bool = "host_also_in_a_child"

let running = 1
and invalid = 3

let check what holds = if not holds then failwith ("check failed: " ^ what)

let contains part whole =
  let n = String.length part in
  let rec at i = i + n <= String.length whole && (String.sub whole i n = part || at (i + 1)) in
  at 0

let n = 10_000

let roots user = Array.init n (fun i -> create user (Printf.sprintf "%d of %d" i user))

let collect () =
  Gc.minor ();
  Gc.compact ();
  ignore (Sys.opaque_identity (Array.init n string_of_int));
  Gc.full_major ()

(* Checks that each root still has the value that `maker` gave it. *)
let kept user maker roots =
  Array.iteri
    (fun i r -> check "a root kept its value" (get user r = Printf.sprintf "%d of %d" i maker))
    roots

let replace user roots =
  Array.iteri
    (fun i r -> roots.(i) <- modify user r (Printf.sprintf "%d of %d" i user))
    (Array.copy roots)

(* Runs all operations of one user. Returns its live roots. *)
let use user =
  check "setup" (setup user);
  let mine = roots user in
  collect ();
  kept user user mine;
  replace user mine;
  collect ();
  kept user user mine;
  mine

(* Checks that both users have the same copy: their roots are counted together, and handles can be
   exchanged. *)
let one_copy plugin =
  check "setup" (setup 0);
  let a = use 0 and b = use plugin in
  check "one count" (live 0 = 2 * n && live plugin = 2 * n);
  kept 0 plugin b;
  kept plugin 0 a;
  Array.iter (delete 0) b;
  Array.iter (delete plugin) a;
  check "all are deleted" (live 0 = 0 && live plugin = 0);
  check "running" (status plugin = running)

let two_copies plugin =
  let a = use 0 and b = use plugin in
  check "two counts" (live 0 = n && live plugin = n);
  let both () =
    collect ();
    kept 0 0 a;
    kept plugin plugin b;
    let more = use plugin in
    Array.iter (delete plugin) more
  in
  check "a child has both" (also_in_a_child both);
  both ();
  Array.iter (delete 0) a;
  check "only one's are deleted" (live 0 = 0 && live plugin = n);
  Array.iter (delete plugin) b;
  check "all are deleted" (live plugin = 0)

(* Checks that the plugin's copy refuses: the copy of `first` was found first, and the plugin's copy has another layout or
   flavour. Roots must not go to users of another flavour, not even to refused ones. *)
let refused ?(crossing = false) first plugin =
  let refuses () =
    check "no setup" (not (setup plugin));
    check "a message after setup" (contains "two different copies" (error plugin));
    check "no root" (create plugin "refused" = 0);
    check "a message" (contains "two different copies" (error plugin));
    check "status" (status plugin = invalid)
  in
  refuses ();
  let a = use first in
  refuses ();
  if crossing then begin
    (* The plugin's inlined code does not touch a root of the other copy. *)
    check "no change" (modify plugin a.(0) "refused" = 0);
    delete plugin a.(0)
  end;
  collect ();
  kept first first a;
  check "the first one works" (status first = running && live first = n);
  Array.iter (delete first) a;
  check "all are deleted" (live first = 0)

let unload path =
  let plugin = load path false in
  let b = use plugin in
  check "closed" (close plugin);
  check "it is pinned" (is_loaded path);
  let both () =
    collect ();
    kept plugin plugin b;
    Array.iter (delete plugin) (use plugin)
  in
  check "a child can collect" (also_in_a_child both);
  both ()

let unload_a_user path library =
  let user = load path false in
  Array.iter (delete user) (use user);
  check "closed" (close user);
  check "it is gone" (not (is_loaded path));
  check "the library is pinned" (is_loaded library);
  collect ()

let () =
  match Array.to_list Sys.argv with
  | [ _; "one copy"; path ] -> one_copy (load path false)
  | [ _; "two copies"; path ] -> two_copies (load path false)
  | [ _; "refused"; path ] -> refused ~crossing:true 0 (load path false)
  | [ _; "second plugin refused"; path; other ] ->
      let first = load path true in
      refused ~crossing:true first (load other true)
  | [ _; "other flavour refused"; path ] -> refused 0 (load path false)
  | [ _; "second plugin of another flavour refused"; path; other ] ->
      let first = load path true in
      refused first (load other true)
  | [ _; "executable's other flavour refused" ] -> refused (load "" false) 0
  | [ _; "unload"; path ] -> unload path
  | [ _; "unload a user"; path; library ] -> unload_a_user path library
  | _ -> failwith "usage"
