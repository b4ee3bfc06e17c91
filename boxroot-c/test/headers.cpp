// SPDX-License-Identifier: MIT
// The C++ header, alone and twice. Compiled twice, with two names, and linked.
#include <boxroot.hpp>
#include <boxroot.hpp>

boxroots::Root UNIT(value v);
boxroots::Root UNIT(value v) { return boxroots::Root(v); }
