#ifndef BENCH_IMPLEMENTATIONS_H
#define BENCH_IMPLEMENTATIONS_H

#include "../impls/implementation.h"

/* The one that is measured. */
extern struct implementation const *implementation;

#endif
