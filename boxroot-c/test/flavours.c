/* SPDX-License-Identifier: MIT */
/* A program that only reads. */
#include <boxroot.h>

static value volatile slot = Val_unit;
static value volatile *volatile root = &slot;

int main(void) { return (int)boxroot_get((boxroot)root); }
