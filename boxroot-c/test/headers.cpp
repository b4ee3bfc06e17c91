// SPDX-License-Identifier: MIT
// The C++ header, alone and twice, and after one of OCaml's. Compiled with two names, and linked.
#include <boxroot.hpp>
#include <boxroot.hpp>

boxroots::Root UNIT(value v);
boxroots::Root UNIT(value v) { return boxroots::Root(v); }
