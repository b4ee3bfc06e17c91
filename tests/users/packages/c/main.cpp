// The same in C++.
#include <cstdio>
#include <string>
#include <vector>

#include <boxroot.hpp>
#include <caml/alloc.h>
#include <caml/callback.h>

int main(int, char **argv) {
  caml_startup(argv);
  boxroot_setup();
  std::vector<boxroots::Root> counters;
  value const *counter = caml_named_value("counter");
  for (int i = 0; i < 1000; i++)
    counters.emplace_back(caml_callback(*counter, caml_copy_string("called")));
  for (int call = 1; call <= 3; call++) {
    for (auto const &root : counters) {
      value text = caml_callback(root.get(), Val_unit);
      if (String_val(text) != "called " + std::to_string(call)) return 1;
    }
  }
  std::puts("three calls of each closure");
}
