// SPDX-License-Identifier: MIT
// Mistakes that are still possible in C++, as in mistakes.c.
#include <boxroot.hpp>

#include <string>

using boxroots::Root;

extern "C" value make_mistake(value name);

static void adopted_twice() {
  Root root(Val_true); // adopted_twice created
  Root other = Root::adopt(root.handle());
}

static void read_of_empty() {
  Root root;
  (void)root.get(); // read_of_empty here
}

static void exception_stored() {
  Root root(Val_true);
  root.set((Val_true & ~value(1)) | 2); // exception_stored here
}

static Root lost() {
  return boxroots::make_root(Val_true); // lost created
}

value make_mistake(value name) {
  std::string mistake = String_val(name);
  boxroot_setup();
  if (mistake == "adopted_twice") adopted_twice();
  if (mistake == "read_of_empty") read_of_empty();
  if (mistake == "exception_stored") exception_stored();
  for (int i = 0; i < 2; i++) lost().release();
  boxroot_print_leaks();
  return Val_unit;
}
