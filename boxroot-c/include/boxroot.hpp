// SPDX-License-Identifier: MIT
// A move-only C++17 smart pointer over boxroot.h.
#ifndef BOXROOT_HPP
#define BOXROOT_HPP

#include <cerrno>
#include <new>
#include <stdexcept>
#include <utility>

#include "boxroot.h"

namespace boxroots {

// Owns one OCaml value. Deleted on any thread, with or without the lock. A Root that
// was moved from is empty: it may only be assigned to, swapped, tested or destroyed.
class Root {
public:
  Root() noexcept = default;

  // Lock: required. Throws std::bad_alloc when out of memory, and std::logic_error
  // with the reason when create is not allowed (lock not held, torn down, ...).
  explicit Root(value v) : handle_(boxroot_create(v)) {
    if (handle_ == nullptr) fail();
  }

  Root(Root const &) = delete;
  Root &operator=(Root const &) = delete;
  Root(Root &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Root &operator=(Root &&other) noexcept {
    Root(std::move(other)).swap(*this);
    return *this;
  }
  ~Root() { boxroot_delete(handle_); }

  void swap(Root &other) noexcept { std::swap(handle_, other.handle_); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  // Lock: required; the Root must not be empty.
  value get() const noexcept { return boxroot_get(handle_); }
  value const *get_ref() const noexcept { return boxroot_get_ref(handle_); }

  // Lock: required. An empty Root becomes full. Throws like the constructor; the old
  // value is then intact.
  void set(value v) {
    if (handle_ == nullptr) {
      *this = Root(v);
    } else if (!boxroot_modify(&handle_, v)) {
      fail();
    }
  }

  // Gives the handle up to the caller, who must delete it.
  boxroot release() noexcept { return std::exchange(handle_, nullptr); }
  // Takes ownership of a handle.
  static Root adopt(boxroot handle) noexcept {
    Root root;
    root.handle_ = handle;
    return root;
  }

private:
  boxroot handle_ = nullptr;

  [[noreturn]] static void fail() {
    if (errno == ENOMEM) throw std::bad_alloc();
    throw std::logic_error(boxroot_error_string());
  }
};

inline void swap(Root &a, Root &b) noexcept { a.swap(b); }

} // namespace boxroots

#endif // BOXROOT_HPP
