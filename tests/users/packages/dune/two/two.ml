let () =
  Sums_bindings.register ();
  Shapes_bindings.register ();
  if Sums.sum [ 1; 2; 3 ] <> 6 then failwith "sums";
  if Shapes.area (Square { side = 3. }) <> 9. then failwith "shapes";
  print_endline "two Rust libraries: passed"
