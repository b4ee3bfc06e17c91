/* Calls plain functions of the bindings as bytecode does, with values. */
#include <caml/mlvalues.h>

value bound_norm_bytecode(value x, value y);
value bound_sum_bytecode(value *arguments, int count);

value test_norm_in_bytecode(value x, value y) { return bound_norm_bytecode(x, y); }
value test_sum_in_bytecode(value n, value a, value b, value c, value x, value last) {
  value arguments[] = {n, a, b, c, x, last};
  return bound_sum_bytecode(arguments, 6);
}
