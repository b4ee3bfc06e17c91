// The C++ pointer: ownership, moves, and unwinding.
#define CAML_NAME_SPACE
#include <boxroot.hpp>

#include <stdexcept>
#include <vector>

using boxroots::Root;

static size_t live() {
  struct boxroot_stats s;
  boxroot_stats(&s, sizeof s);
  return s.live_roots;
}

// 0 if all checks hold, else the number of the line that failed.
#define CHECK(e)                                                                                   \
  if (!(e)) return __LINE__

extern "C" int test_cpp_pointer() {
  size_t before = live();
  {
    Root a(Val_long(1));
    Root b(std::move(a));
    CHECK(!a && b && b.get() == Val_long(1));
    a = std::move(b);
    CHECK(a && !b && *a.get_ref() == Val_long(1));
    a.set(Val_long(2));
    b.set(Val_long(3));
    swap(a, b);
    CHECK(a.get() == Val_long(3) && b.get() == Val_long(2));
    std::vector<Root> many;
    for (int i = 0; i < 10000; i++) many.emplace_back(Val_long(i));
    for (int i = 0; i < 10000; i++) CHECK(many[i].get() == Val_long(i));
    boxroot raw = many.back().release();
    many.pop_back();
    many.push_back(Root::adopt(raw));
    CHECK(live() == before + 10002);
  }
  CHECK(live() == before);
  return 0;
}

static void throw_past(int depth) {
  Root root(Val_long(depth));
  if (depth == 0) throw std::runtime_error("unwinding");
  throw_past(depth - 1);
}

extern "C" int test_cpp_unwinding() {
  size_t before = live();
  try {
    throw_past(100);
    return __LINE__;
  } catch (std::runtime_error const &) { CHECK(live() == before); }
  return 0;
}
