(* A function that neither allocates nor raises. *)

external export : (int[@untagged]) -> (int[@untagged])
  = "noalloc_bytecode" "noalloc_export"
[@@noalloc]

let export_noalloc n = for i = 1 to n do if export i <> i + 1 then failwith "a wrong result" done
let () = Callback.register "export_noalloc" export_noalloc
