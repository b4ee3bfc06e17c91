/* Loops for benches/instructions.rs: n operations of the inlined C interface. */
#include <boxroot.h>

void bench_create(boxroot *roots, size_t n) {
  for (size_t i = 0; i < n; i++) roots[i] = boxroot_create(Val_true);
}

void bench_delete(boxroot *roots, size_t n) {
  for (size_t i = 0; i < n; i++) boxroot_delete(roots[i]);
}

void bench_pair(size_t n) {
  for (size_t i = 0; i < n; i++) boxroot_delete(boxroot_create(Val_true));
}

value bench_get(boxroot *roots, size_t n) {
  value sum = 0;
  for (size_t i = 0; i < n; i++) sum ^= boxroot_get(roots[i]);
  return sum;
}

void bench_modify(boxroot *roots, size_t n) {
  bool all = true;
  for (size_t i = 0; i < n; i++) all &= boxroot_modify(&roots[i], Val_false);
  (void)all;
}
