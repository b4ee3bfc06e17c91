external make : string -> unit = "make_mistake"

let () = make Sys.argv.(1)
