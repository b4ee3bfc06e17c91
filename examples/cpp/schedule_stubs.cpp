// The C++ side of schedule.ml: a map of deadlines and of the OCaml functions to call then.
// `boxroots::Root` owns a root as std::unique_ptr owns memory, so the container needs nothing
// special. Exceptions of either language pass through the other one, and destructors run
// (boxroot/exceptions.hpp).
#include <map>

#include <boxroot/exceptions.hpp>

#include <caml/alloc.h>

static std::multimap<double, boxroots::Root> tasks;

extern "C" value schedule_at(value time, value task) {
  return boxroots::entered_from_ocaml([=] {
    boxroot_setup(); // needed on OCaml 4; if it fails, so does the next line
    tasks.emplace(Double_val(time), boxroots::Root(task));
    return Val_unit;
  });
}

extern "C" value schedule_run(value) {
  return boxroots::entered_from_ocaml([] {
    long count = 0;
    while (!tasks.empty()) {
      auto first = tasks.extract(tasks.begin()); // the task may schedule others
      boxroots::call(*first.mapped(), Val_unit);
      count++;
    }
    return Val_long(count);
  });
}
