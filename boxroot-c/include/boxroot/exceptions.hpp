// SPDX-License-Identifier: MIT
// Passes exceptions between OCaml and C++, in both directions, so that destructors run. (Without
// these functions, an OCaml exception leaves C++ functions like a longjmp, and a C++ exception that
// reaches OCaml code ends the program.)
//
//   extern "C" value sum_of_lengths(value f, value words) {
//     return boxroots::entered_from_ocaml([&] {
//       boxroots::Root root(f);
//       ... boxroots::call(root, caml_copy_string("word")) ...
//       return Val_long(sum);
//     });
//   }
//
// A C++ exception does not undo the CAMLparam of functions that it passes; entered_from_ocaml does
// that at its end. So code in between must not continue after it has caught an exception that
// passed functions with CAMLparam. If it has to continue, these functions must use Roots instead of
// CAMLparam.
#ifndef BOXROOT_EXCEPTIONS_HPP
#define BOXROOT_EXCEPTIONS_HPP

#include "../boxroot.hpp"

#if !defined(__cpp_exceptions)
#error "boxroot/exceptions.hpp needs C++ exceptions; without them, use caml_callback_exn"
#endif

#include <cstdio>
#include <cxxabi.h>
#include <exception>
#include <memory>
#include <string>

#include <caml/callback.h>
#include <caml/fail.h>
#include <caml/memory.h>
#include <caml/printexc.h>

namespace boxroots {

// Not an interface.
namespace detail {
// The text that OCaml prints for an uncaught exception. OCaml's heap is only read, so no value
// moves.
inline std::string text_of(value exception) {
  std::unique_ptr<char, void (*)(void *)> text(caml_format_exception(exception), caml_stat_free);
  return text ? text.get() : "an OCaml exception";
}
} // namespace detail

// An OCaml exception that passes C++ functions.
class OCamlException : public std::exception {
public:
  // Lock: required. Throws like Root's constructor.
  explicit OCamlException(value v) : exception_(v), text_(detail::text_of(v)) {}
  OCamlException(OCamlException &&) noexcept = default;
  // A thrown object must be copyable. Lock: required. Throws like Root's constructor.
  OCamlException(OCamlException const &other)
      : std::exception(other), exception_(*other.exception_), text_(other.text_) {}
  OCamlException &operator=(OCamlException const &) = delete;

  // The OCaml exception. Lock: required.
  value operator*() const noexcept { return *exception_; }
  // Its text, as OCaml prints an uncaught exception: Stock.Missing("tea", 2). Lock: none.
  char const *what() const noexcept override { return text_.c_str(); }

private:
  Root exception_;
  std::string text_;
};

// Private. Converts an argument of `call`.
namespace detail {
inline value value_of(value v) noexcept { return v; }
inline value value_of(Root const &root) noexcept { return *root; }
} // namespace detail

// Calls an OCaml function with one argument or more. Throws OCamlException if the function raises
// an exception. Lock: required. The collector may run.
//
// The function and each argument are Roots or values. Use Roots if an argument allocates, as in
//
//   boxroots::call(f, caml_copy_string("word"));
//
// for a Root f: call reads Roots after all arguments are evaluated. C++ does not say in which order
// arguments are evaluated, so call(*f, caml_copy_string("word")) may read f's value first, and then
// move it. For the same reason, at most one argument may be an expression that allocates and
// returns a value.
template <class Function, class First, class... Others>
value call(Function const &function, First const &first, Others const &...others) {
  value arguments[] = {detail::value_of(first), detail::value_of(others)...};
  value result = caml_callbackN_exn(detail::value_of(function),
                                    1 + static_cast<int>(sizeof...(others)), arguments);
  if (Is_exception_result(result)) throw OCamlException(Extract_exception(result));
  return result;
}

// Runs the body of a function that OCaml calls. OCaml gets the body's result, or the exception that
// ended the body: OCamlException as the exception that it holds, std::bad_alloc as Out_of_memory,
// any other as Failure, whose text is what(), cut after 250 bytes. All destructors of the body have
// run by then. (From 5.4 on, OCaml may end threads of other domains with pthread_exit, which also
// runs all destructors, but is not turned into an exception.)
template <class Body> value entered_from_ocaml(Body &&body) {
  enum { RETURNS, RAISES, OUT_OF_MEMORY, FAILS } end = FAILS;
  value result = Val_unit;
  char text[251] = "a C++ exception";
  // An OCaml exception that is raised below runs no destructors, so the variables here have none.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
  CAMLparam0();
  try {
    result = std::forward<Body>(body)();
    end = RETURNS;
  } catch (OCamlException const &exception) {
    result = *exception;
    end = RAISES;
  } catch (std::bad_alloc const &) {
    end = OUT_OF_MEMORY;
  } catch (std::exception const &exception) {
    std::snprintf(text, sizeof text, "%s", exception.what());
#if defined(__GLIBCXX__)
  } catch (abi::__forced_unwind const &) {
    throw; // pthread_exit or pthread_cancel ends the thread
#endif
  } catch (...) {}
  CAMLdrop;
#pragma GCC diagnostic pop
  if (end == RAISES) caml_raise(result);
  if (end == OUT_OF_MEMORY) caml_raise_out_of_memory();
  if (end == FAILS) caml_failwith(text);
  return result;
}

} // namespace boxroots

#endif // BOXROOT_EXCEPTIONS_HPP
