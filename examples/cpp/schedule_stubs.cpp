// The C++ side of schedule.ml: a map of deadlines and of the OCaml functions to call then. `boxroots::Root` owns a
// root as std::unique_ptr owns memory, so the container needs nothing special.
#include <exception>
#include <map>
#include <string>
#include <utility>

#include <boxroot.hpp>

extern "C" {
#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/fail.h>
}

static std::multimap<double, boxroots::Root> tasks;

// Runs f, and raises a C++ exception as OCaml's Failure, when all objects of f are gone.
template <class F> static value guarded(F f) {
  value message;
  try {
    return f();
  } catch (std::exception const &error) { message = caml_copy_string(error.what()); }
  caml_failwith_value(message);
}

extern "C" value schedule_at(value time, value task) {
  return guarded([=] {
    boxroot_setup(); // needed on OCaml 4; if it fails, so does the next line
    tasks.emplace(Double_val(time), boxroots::Root(task));
    return Val_unit;
  });
}

extern "C" value schedule_run(value) {
  long count = 0;
  value result = Val_unit;
  while (!tasks.empty() && !Is_exception_result(result)) {
    auto first = tasks.extract(tasks.begin()); // the task may schedule others
    // The exception, if any, comes back as a result: it does not jump over `first`.
    result = caml_callback_exn(first.mapped().get(), Val_unit);
    count++;
  }
  if (Is_exception_result(result)) caml_raise(Extract_exception(result));
  return Val_long(count);
}
