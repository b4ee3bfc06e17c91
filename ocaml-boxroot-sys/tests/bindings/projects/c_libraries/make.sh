#!/bin/sh
# Makes installed OCaml libraries with C code: make.sh OCAMLOPT, in the package's folder.
# m: needs libm. shared: needs a library that exists only as a shared one. chain: needs an archive that needs another
# library; the shared form of the archive names that library itself.
set -e
ocamlopt=$1
bin=$(dirname "$(command -v "$ocamlopt")")
ocaml=$("$ocamlopt" -where)
library() { # name, libraries, C code
  echo "external value : float -> float = \"stub_of_$1\"" > "of_$1.ml"
  printf '#include <caml/mlvalues.h>\n#include <caml/alloc.h>\n#include <math.h>\n%s\n' "$3" > "$1_stubs.c"
  "$ocamlopt" -c "of_$1.ml"
  cc -fPIC -I "$ocaml" -c "$1_stubs.c"
  "$bin/ocamlmklib" -ocamlopt "$ocamlopt" -o "of_$1" -oc "$1_stubs" "of_$1.cmx" "$1_stubs.o" $2
  echo "archive(native) = \"of_$1.cmxa\"" > META
}
enter() { mkdir -p "installed/$1"; cd "installed/$1"; }

(enter of_m
 library m "-lm" 'value stub_of_m(value x) { return caml_copy_double(pow(exp(Double_val(x)), 1.5)); }')
(enter of_shared
 echo 'double only_shared(double x) { return x + 1; }' > o.c
 cc -shared -fPIC o.c -o libonlyshared.so
 library shared "-L$PWD -lonlyshared" 'double only_shared(double);
   value stub_of_shared(value x) { return caml_copy_double(only_shared(Double_val(x))); }')
(enter of_chain
 echo 'double last(double x) { return x * 2; }' > l.c
 cc -shared -fPIC l.c -o liblastofchain.so
 echo 'double last(double); double first(double x) { return last(x); }' > f.c
 cc -fPIC -c f.c
 ar rcs libfirstofchain.a f.o
 cc -shared f.o -o libfirstofchain.so -L. -llastofchain -Wl,-rpath,"$PWD"
 library chain "-L$PWD -lfirstofchain" 'double first(double);
   value stub_of_chain(value x) { return caml_copy_double(first(Double_val(x))); }')
mkdir -p metas
printf 'directory = "%s"\narchive(native) = "of_m.cmxa"\n' "$PWD/installed/of_m" > metas/META.named
