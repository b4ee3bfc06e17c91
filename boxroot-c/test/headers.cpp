// SPDX-License-Identifier: MIT
// The C++ headers, alone and twice, after an OCaml header, and before the header for the Rust
// crates. This file is compiled under two names, and both objects are linked.
#include <boxroot.hpp>
#include <boxroot.hpp>
#include <boxroot/host.h>
#if defined(__cpp_exceptions)
#include <boxroot/exceptions.hpp>
#include <boxroot/exceptions.hpp>
#endif

boxroots::Root UNIT(value v);
boxroots::Root UNIT(value v) {
#if defined(__cpp_exceptions)
  boxroots::entered_from_ocaml([&] { return boxroots::call(v, Val_unit, v); });
  return boxroots::make_root(v);
#else
  return boxroots::try_make_root(v);
#endif
}
