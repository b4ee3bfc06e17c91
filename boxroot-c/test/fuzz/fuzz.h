/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Operations that were executed, of all inputs. */
extern uint64_t fuzz_operations;

/* Prints them, those inside others with an indent. */
extern bool fuzz_traces;

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

#endif
