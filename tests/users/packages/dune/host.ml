let () =
  try
    for i = 1 to Array.length Sys.argv - 1 do
      Dynlink.loadfile (Dynlink.adapt_filename Sys.argv.(i))
    done
  with Dynlink.Error error ->
    prerr_endline (Dynlink.error_message error);
    exit 1
