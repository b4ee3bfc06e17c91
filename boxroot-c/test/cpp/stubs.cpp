// SPDX-License-Identifier: MIT
// The C++ headers, for program.ml; compiled with and without exceptions.
#include <boxroot.hpp>
#if defined(__cpp_exceptions)
#include <boxroot/exceptions.hpp>
#include <csetjmp>
#include <unwind.h>
#endif

#include <future>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/memory.h>

using boxroots::Root;
using boxroots::try_make_root;

static_assert(std::is_nothrow_move_constructible_v<Root> &&
              std::is_nothrow_move_assignable_v<Root>);
static_assert(!std::is_copy_constructible_v<Root> && !std::is_copy_assignable_v<Root>);
static_assert(std::is_nothrow_swappable_v<Root> && std::is_nothrow_default_constructible_v<Root>);
static_assert(!std::is_convertible_v<value, Root> && !std::is_convertible_v<boxroot, Root>);
static_assert(sizeof(Root) == sizeof(void *));

// Made before main, and deleted after it.
static Root global;

static std::size_t live() {
  struct boxroot_stats statistics;
  boxroot_stats(&statistics, sizeof statistics);
  return statistics.live_roots;
}

#define CHECK(e)                                                                                   \
  if (!(e)) return __LINE__

static int pointer() {
  std::size_t before = live();
  CHECK(boxroot_lock_is_held());
  CHECK(!std::async(std::launch::async, boxroot_lock_is_held).get());
  {
    Root empty, null = nullptr;
    CHECK(!empty && empty == nullptr && nullptr == empty && empty == null);
    Root a = try_make_root(Val_long(1));
    CHECK(a && a != nullptr && nullptr != a && *a == Val_long(1) && a.get() == *a);
    Root b = std::move(a);
    CHECK(a == nullptr && *b == Val_long(1) && live() == before + 1);
    Root &alias = b;
    b = std::move(alias);
    CHECK(*b == Val_long(1));
    CHECK(a.try_set(Val_long(2)) && *a == Val_long(2));
    CHECK(b.try_set(Val_long(3)) && *b == Val_long(3) && *b.get_ref() == Val_long(3));
    CHECK(a != b && (a < b) != (b < a) && (a < b) == (b > a) && (a <= b) == (b >= a) && a <= a);
    swap(a, b);
    CHECK(*a == Val_long(3) && *b == Val_long(2));
    std::swap(a, b);
    CHECK(*a == Val_long(2) && live() == before + 2);
    a.reset();
    b = nullptr;
    CHECK(!a && !b && live() == before);
  }
  {
    std::vector<Root> many;
    for (long i = 0; i < 10000; i++) many.push_back(try_make_root(Val_long(i)));
    boxroot raw = many.back().release();
    many.back() = Root::adopt(raw);
    CHECK(many.back().handle() == raw && live() == before + 10000);
    std::unordered_set<Root> set;
    std::map<Root, long> map;
    for (auto &root : many) {
      long i = Long_val(*root);
      if (i % 2 == 0)
        set.insert(std::move(root));
      else
        map.emplace(std::move(root), i);
    }
    CHECK(set.size() == 5000 && map.size() == 5000);
    for (auto const &[root, i] : map) CHECK(*root == Val_long(i) && map.count(root) == 1);
    CHECK(live() == before + 10000);
  }
  CHECK(live() == before);
#if defined(__cpp_exceptions)
  {
    auto shared = std::make_shared<Root>(boxroots::make_root(Val_long(4)));
    Root other(Val_long(5));
    other.set(**shared);
    CHECK(*other == Val_long(4) && live() == before + 2);
  }
  CHECK(live() == before);
#endif
  return 0;
}

extern "C" {
value cpp_setup(value unit) {
  boxroot_setup();
  global = try_make_root(unit);
  return unit;
}
value cpp_pointer(value) { return Val_long(pointer()); }
value cpp_created(value v) {
  boxroot_delete(boxroot_create_exn(v));
  return Val_unit;
}
value cpp_lock_is_held(value) { return Val_long(boxroot_lock_is_held() ? __LINE__ : 0); }
value cpp_teardown(value) {
  boxroot_teardown();
  return Val_unit;
}
value cpp_live(value) { return Val_long(live()); }

// A mistake in a program: the exception passes a function that owns a Root.
value cpp_unguarded(value f) {
  Root root = try_make_root(f);
  return caml_callback(*root, Val_unit);
}

#if defined(__cpp_exceptions)
value cpp_has_exceptions(value) { return Val_true; }

// Frames with CAMLparam, which a C++ exception also passes.
static value deeper(value f, long depth) {
  CAMLparam1(f);
  Root root(f);
  if (depth > 0) CAMLreturn(Val_long(Long_val(deeper(f, depth - 1)) + depth));
  long sum = 0;
  for (long i = 4; i >= 0; i--) sum += Long_val(boxroots::call(*root, Val_long(i)));
  CAMLreturn(Val_long(sum - 10));
}
// A new string. Before that, the collector moves all young values, so a value that was read from a
// Root too early is stale.
static value fresh(char const *text) {
  caml_callback(*caml_named_value("collect"), Val_unit);
  return caml_copy_string(text);
}
value cpp_moving(value f) {
  return boxroots::entered_from_ocaml([&] {
    Root function(f), first(caml_copy_string("a")), last(caml_copy_string("c"));
    Root partial(boxroots::call(function, first));
    return boxroots::call(partial, fresh("b"), last);
  });
}
value cpp_guarded(value f) {
  return boxroots::entered_from_ocaml([&] {
    Root root(f);
    return deeper(*root, 4);
  });
}
// The text that a C++ program prints for an OCaml exception.
value cpp_text(value f) {
  return boxroots::entered_from_ocaml([&]() -> value {
    try {
      return boxroots::call(f, Val_unit);
    } catch (boxroots::OCamlException const &exception) {
      boxroots::OCamlException copy = exception;
      return caml_copy_string((std::string(exception.what()) + " " + copy.what()).c_str());
    }
  });
}
value cpp_throws(value kind) {
  return boxroots::entered_from_ocaml([&]() -> value {
    Root root(kind);
    switch (Long_val(*root)) {
    case 0: throw std::runtime_error("a text");
    case 1: throw std::bad_alloc();
    case 2: throw 3;
    default: throw std::runtime_error(std::string(1000, 'x'));
    }
  });
}
// Unwinds the stack as pthread_exit does, up to this function's caller.
static std::jmp_buf unwound;
static _Unwind_Reason_Code until(int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception *,
                                 _Unwind_Context *context, void *last_frame) {
  if (_Unwind_GetCFA(context) > reinterpret_cast<_Unwind_Word>(last_frame))
    std::longjmp(unwound, 1);
  return _URC_NO_REASON;
}
__attribute__((noinline)) static value unwind(value v) {
  void *frame = __builtin_frame_address(0);
  return boxroots::entered_from_ocaml([&]() -> value {
    Root root(v);
    _Unwind_Exception forced = {};
    _Unwind_ForcedUnwind(&forced, until, frame);
    return *root;
  });
}
value cpp_unwound(value v) { return setjmp(unwound) == 0 ? unwind(v) : Val_true; }
#else
value cpp_has_exceptions(value) { return Val_false; }
value cpp_unwound(value v) { return v; }
value cpp_moving(value f) { return f; }
value cpp_guarded(value f) { return f; }
value cpp_text(value f) { return f; }
value cpp_throws(value kind) { return kind; }
#endif
}
