external setup : string -> unit = "late_threads_setup"

let () = setup (String.lowercase_ascii "EARLY")
let () = for i = 1 to 100_000 do ignore (Sys.opaque_identity (string_of_int i)) done
