/* SPDX-License-Identifier: MIT */
/* The calls that tests count and make fail. Only os.c and os_windows.c include this file, after
   os.h and atomic.h. */
#ifndef BXR_OS_FAULTS_H
#define BXR_OS_FAULTS_H

#ifdef BXR_FAULT_INJECTION
#include <errno.h>

static size_t calls, failing_call;
static bool fails_for_good;

size_t bxr_os_fail(size_t k, bool for_good) {
  size_t seen = bxr_exchange(&calls, 0);
  fails_for_good = for_good;
  bxr_publish(&failing_call, k);
  return seen;
}

static bool injected_failure(void) {
  size_t call = bxr_add(&calls, 1) + 1;
  size_t k = bxr_load(&failing_call);
  bool fails = k != 0 && (fails_for_good ? call >= k : call == k);
  if (fails) errno = ENOMEM;
  return fails;
}

static size_t unmap_calls;
static bool unmap_fails;

size_t bxr_os_refuse_unmap(bool refuse) {
  unmap_fails = refuse;
  return bxr_exchange(&unmap_calls, 0);
}

static bool injected_refusal(void) {
  bxr_add(&unmap_calls, 1);
  if (unmap_fails) errno = ENOMEM;
  return unmap_fails;
}

static void (*interruption)(void);
void bxr_os_interrupt(void (*act)(void)) { interruption = act; }
static void injected_interruption(void) {
  if (interruption != NULL) interruption();
}

static size_t pretended_page_size;
void bxr_os_pretend_page_size(size_t size) { pretended_page_size = size; }
#else
static bool injected_failure(void) { return false; }
static bool injected_refusal(void) { return false; }
static void injected_interruption(void) {}
enum { pretended_page_size = 0 };
#endif

#endif
