(* `large` has more variables than `small`, so it needs a larger array for positions. *)
rule large = parse
  | (['a'-'m']+ as a) '-' (['a'-'m']+ as b) '-' (['a'-'m']+ as c) '-' (['a'-'m']+ as d) '.' { [ a; b; c; d ] }
  | (['a'-'z']+ as a) '-' (['a'-'z']+ as b) '-' (['a'-'z']+ as c) '-' (['a'-'z']+ as d) '!' { [ a; b; c; d ] }

and small = parse
  | ('x'+ as a) ','? { a }
