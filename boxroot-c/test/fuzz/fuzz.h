/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of operations that were executed, in all inputs. */
extern uint64_t fuzz_operations;

/* If true, operations are printed; those that run inside others are indented. */
extern bool fuzz_traces;

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

#endif
