/* SPDX-License-Identifier: MIT */
/* Without libFuzzer: random histories, until OPERATIONS operations were executed. Usage: driver
   OPERATIONS [SEED] | driver FILE */
#include <sanitizer/common_interface_defs.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fuzz.h"

static uint8_t history[2048];
static size_t length;

/* The runtime of AddressSanitizer calls this function. */
char const *__asan_default_options(void);
char const *__asan_default_options(void) { return "handle_abort=1:detect_leaks=0"; }

static void save_history(void) {
  FILE *file = fopen("fuzz-history", "wb");
  if (file == NULL || fwrite(history, 1, length, file) != length) return;
  fclose(file);
  fprintf(stderr, "fuzz: the history is in fuzz-history\n");
}

static uint64_t random_word(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Half of the histories have favourites, so that some operations are frequent and others rare. */
static void make_history(uint64_t *state) {
  uint8_t favourites[16];
  for (size_t i = 0; i < sizeof favourites; i++)
    favourites[i] = (uint8_t)(random_word(state) >> 32);
  bool has_favourites = random_word(state) % 2 != 0;
  length = 64 + random_word(state) % (sizeof history - 64);
  for (size_t i = 0; i < length; i++) {
    uint64_t word = random_word(state) >> 32;
    bool favourite = has_favourites && word % 4 == 0;
    history[i] = favourite ? favourites[word / 4 % sizeof favourites] : (uint8_t)(word >> 8);
  }
}

static int run_file(char const *name) {
  FILE *file = fopen(name, "rb");
  if (file == NULL) return 2;
  static uint8_t data[1 << 16];
  size_t size = fread(data, 1, sizeof data, file);
  fuzz_traces = true;
  fclose(file);
  return LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv) {
  char *end;
  uint64_t wanted = argc > 1 ? strtoull(argv[1], &end, 10) : 1000000;
  if (argc > 1 && *end != 0) return run_file(argv[1]);
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, histories = 0;
  uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) | 1;
  __sanitizer_set_death_callback(save_history);
  clock_t start = clock();
  for (; fuzz_operations < wanted; histories++) {
    make_history(&state);
    LLVMFuzzerTestOneInput(history, length);
  }
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  printf("fuzz: %llu operations in %llu histories, seed %llu; %.0f a second of processor time\n",
         (unsigned long long)fuzz_operations, (unsigned long long)histories,
         (unsigned long long)seed, (double)fuzz_operations / seconds);
  return 0;
}
