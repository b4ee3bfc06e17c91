/* SPDX-License-Identifier: MIT */
/* Private. Attributes of compilers, and warnings that the public headers turn off. */
#ifndef BOXROOT_COMPILER_H
#define BOXROOT_COMPILER_H

#include "config.h"

#if defined(__GNUC_GNU_INLINE__) && !defined(__cplusplus)
#error "boxroot.h needs the inline functions of C99: -std=gnu99 or later, no -fgnu89-inline"
#endif

/* Users may turn on warnings that headers for both C and C++ cannot avoid. The end of boxroot.h
   restores them. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* boxroot_stats: a struct and a function */
#pragma GCC diagnostic ignored "-Wredundant-decls"
#pragma GCC diagnostic ignored "-Wnull-dereference" /* gcc cannot know that NULL is in no pool */
#if defined(__cplusplus)
#pragma GCC diagnostic ignored "-Wold-style-cast"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuseless-cast"
#endif
#elif defined(__clang__)
#pragma GCC diagnostic ignored "-Wc11-extensions"
#endif
#endif

/* With GNU C, small functions are inlined. The library also has each of them as a function. */
#if defined(__GNUC__) && (!BOXROOT_CHECKED || defined(BXR_CORE))
#define BOXROOT_INLINE inline
#else
#define BOXROOT_INLINE
#endif

/* For results that must not be ignored: otherwise a root leaks, or a handle is stale. */
#if defined(__GNUC__)
#define BOXROOT_NODISCARD __attribute__((warn_unused_result))
#else
#define BOXROOT_NODISCARD
#endif

#endif /* BOXROOT_COMPILER_H */
