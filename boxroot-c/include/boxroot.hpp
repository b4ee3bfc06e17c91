// SPDX-License-Identifier: MIT
// A smart pointer over boxroot.h, for C++17 and later. Root is for OCaml values what
// std::unique_ptr is for memory.
//
// With -fno-exceptions, functions that could throw are left out: use try_make_root and try_set.
//
// An OCaml exception runs no destructors. If it passes a C++ function that owns a Root, the root
// leaks: nothing breaks, but its value stays alive forever. So call OCaml with functions whose
// names end in _exn, or with those of boxroot/exceptions.hpp, which turn OCaml exceptions into C++
// exceptions and back.
#ifndef BOXROOT_HPP
#define BOXROOT_HPP

#include <cerrno>
#include <cstddef>
#include <functional>
#include <new>
#include <stdexcept>
#include <utility>

#include "boxroot.h"

namespace boxroots {

// In the checked flavour, messages name the line that calls one of these functions. For destructors
// and operators, which cannot know their line, they name an address.
#if BOXROOT_CHECKED
constexpr bxr_site bxr_place(char const *file = __builtin_FILE(),
                             uint32_t line = __builtin_LINE()) {
  return {file, line, 0};
}
#define BXR_PLACE bxr_site at = bxr_place()
#define BXR_WITH_PLACE(parameter) parameter, BXR_PLACE
#define BXR_AT(function, ...) function(__VA_ARGS__, at)
#define BXR_CALL(operation, ...) BXR_AT(bxr_checked_##operation, __VA_ARGS__)
#else
#define BXR_PLACE
#define BXR_WITH_PLACE(parameter) parameter
#define BXR_AT(function, ...) function(__VA_ARGS__)
#define BXR_CALL(operation, ...) boxroot_##operation(__VA_ARGS__)
#endif

// Owns one OCaml value, or nothing. May be destroyed on any thread, with or without the lock, even
// after the runtime has ended. A Root that was moved from owns nothing.
class Root {
public:
  constexpr Root() noexcept = default;
  constexpr Root(std::nullptr_t) noexcept {}

#if defined(__cpp_exceptions)
  // Lock: required. Throws std::bad_alloc when out of memory, and std::logic_error
  // with the reason when create is not allowed (lock not held, torn down, ...).
  explicit Root(BXR_WITH_PLACE(value v)) : handle_(BXR_CALL(create, v)) {
    if (handle_ == nullptr) fail();
  }
#endif

  Root(Root const &) = delete;
  Root &operator=(Root const &) = delete;
  Root(Root &&other) noexcept : handle_(other.release()) {}
  Root &operator=(Root &&other) noexcept {
    Root taken(std::move(other));
    swap(taken);
    return *this;
  }
  Root &operator=(std::nullptr_t) noexcept {
    reset();
    return *this;
  }
  ~Root() { (boxroot_delete)(handle_); }

  void swap(Root &other) noexcept { std::swap(handle_, other.handle_); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  // Deletes the root. The Root owns nothing afterwards.
  void reset() noexcept { (boxroot_delete)(release()); }

  // Lock: required; the Root must own something. Like the results of boxroot_get and
  // boxroot_get_ref, these are valid until the collector may run.
  value operator*() const noexcept { return (boxroot_get)(handle_); }
  value get(BXR_PLACE) const noexcept { return BXR_CALL(get, handle_); }
  value const *get_ref(BXR_PLACE) const noexcept { return BXR_CALL(get_ref, handle_); }

  // Lock: required. Makes the Root own v instead of its old value, if any. If it returns false,
  // nothing has changed, and boxroot_error_string() says why.
  bool try_set(BXR_WITH_PLACE(value v)) noexcept {
    if (handle_ != nullptr) return BXR_CALL(modify, &handle_, v);
    handle_ = BXR_CALL(create, v);
    return handle_ != nullptr;
  }
#if defined(__cpp_exceptions)
  // The same as try_set, but throws like the constructor.
  void set(BXR_WITH_PLACE(value v)) {
    if (!BXR_AT(try_set, v)) fail();
  }
#endif

  // The handle for C. The Root still owns it. set and try_set may change it.
  boxroot handle() const noexcept { return handle_; }
  // Passes the ownership of the handle to the caller, who must delete it.
  boxroot release() noexcept { return std::exchange(handle_, nullptr); }
  // Takes ownership of a handle.
  static Root adopt(boxroot handle) noexcept {
    Root root;
    root.handle_ = handle;
    return root;
  }

private:
  boxroot handle_ = nullptr;

#if defined(__cpp_exceptions)
  [[noreturn]] static void fail() {
    if (errno == ENOMEM) throw std::bad_alloc();
    throw std::logic_error(boxroot_error_string());
  }
#endif
};

inline void swap(Root &a, Root &b) noexcept { a.swap(b); }

// Lock: required. On failure the result owns nothing, and boxroot_error_string() says why.
[[nodiscard]] inline Root try_make_root(BXR_WITH_PLACE(value v)) noexcept {
  return Root::adopt(BXR_CALL(create, v));
}
#if defined(__cpp_exceptions)
// Lock: required. Throws like the constructor.
[[nodiscard]] inline Root make_root(BXR_WITH_PLACE(value v)) { return BXR_AT(Root, v); }
#endif

// The operators compare roots, not values: no two Roots that own something are equal. The order has
// no meaning; it exists for std::map and the like. set and try_set may change a Root's place in the
// order, and its hash.
inline bool operator==(Root const &a, Root const &b) noexcept { return a.handle() == b.handle(); }
inline bool operator!=(Root const &a, Root const &b) noexcept { return !(a == b); }
inline bool operator<(Root const &a, Root const &b) noexcept {
  return std::less<boxroot>()(a.handle(), b.handle());
}
inline bool operator>(Root const &a, Root const &b) noexcept { return b < a; }
inline bool operator<=(Root const &a, Root const &b) noexcept { return !(b < a); }
inline bool operator>=(Root const &a, Root const &b) noexcept { return !(a < b); }
inline bool operator==(Root const &a, std::nullptr_t) noexcept { return !a; }
inline bool operator!=(Root const &a, std::nullptr_t) noexcept { return static_cast<bool>(a); }
#if !defined(__cpp_impl_three_way_comparison)
inline bool operator==(std::nullptr_t, Root const &a) noexcept { return !a; }
inline bool operator!=(std::nullptr_t, Root const &a) noexcept { return static_cast<bool>(a); }
#endif

} // namespace boxroots

template <> struct std::hash<boxroots::Root> {
  std::size_t operator()(boxroots::Root const &root) const noexcept {
    return std::hash<boxroot>()(root.handle());
  }
};

#undef BXR_PLACE
#undef BXR_WITH_PLACE
#undef BXR_AT
#undef BXR_CALL

#endif // BOXROOT_HPP
