/* SPDX-License-Identifier: MIT */
/* The part of boxroot.h for statistics, memory and debugging. */
#ifndef BOXROOT_DEBUG_H
#define BOXROOT_DEBUG_H

#ifdef __cplusplus
extern "C" {
#endif

/* Statistics. For the calling domain, the counts of roots and of pools by state are exact, except
   for deletes that have not arrived yet (see boxroot_delete). For other domains, they are the
   counts at the domain's last major root scan. longest_minor_scan and longest_major_scan are in
   nanoseconds of wall-clock time, the longest of all domains. Events (scans, deletes, adoptions)
   are counted from the time when the library is loaded. */
struct boxroot_stats {
  size_t live_roots;     /* roots created and not yet deleted */
  size_t pools;          /* pools in memory, in all states */
  size_t pools_current;  /* pools in which domains create roots */
  size_t pools_full;     /* pools with too few free slots to allocate from */
  size_t pools_partial;  /* pools to allocate from next */
  size_t pools_empty;    /* pools that hold no root, kept for re-use */
  size_t bytes;          /* memory of all pools */
  size_t slots_per_pool; /* roots that one pool can hold */
  size_t domains;        /* domains that own pools, orphans included */
  uint64_t minor_scans;  /* root scans for minor collections */
  uint64_t major_scans;  /* root scans to mark, verify or compact the major heap */
  uint64_t longest_minor_scan;
  uint64_t longest_major_scan;
  /* Deletes carried out later: by a non-owner, in a root scan, or counted in barrier_hits. */
  uint64_t deferred_deletes;
  /* Deletes that had to wait until the collector had marked the root's value, and calls of modify
     that moved a root for this reason. */
  uint64_t barrier_hits;
  uint64_t pools_adopted; /* pools taken over from domains that ended */
  /* Deletes whose slots cannot be used again yet, because the owner has not carried them out, or
     because the collector must mark the value first. They keep pools in use, and do not count as
     live_roots. If the number grows without end, the owner runs no collections. */
  size_t waiting_deletes;
};

/* Fills the first `size` bytes of *s, which is sizeof *s: later versions may append fields to the
   struct, and `size` tells which ones the caller knows. Any thread; exact only when the caller
   holds the lock. In C++, also write `struct boxroot_stats`, because the function's name hides the
   struct's. */
void boxroot_stats(struct boxroot_stats *s, size_t size);

/* Prints boxroot_stats to standard output. */
void boxroot_print_stats(void);

/* Gives back the memory of the calling domain's empty pools, and returns its size in bytes. Memory
   is also given back gradually without this call. Empty pools that the collector may still be
   visiting are kept until the next major collection starts. If the system's pages are larger than
   pools, the pools that share a page are given back when all of them are empty.
   Lock: required; without it, the function does nothing. OCaml 5: it also does nothing on a thread
   that has never made or modified a root, called boxroot_domain_self or collected garbage. OCaml 4:
   it also does nothing if the library cannot tell whether this thread holds the lock. That concerns
   threads of the Thread module, except the main one, if another thread was waiting for the end of
   the thread that called boxroot_setup, if memory was short, or if the library does not recognise
   the module. */
size_t boxroot_trim(void);

/* A profile of live roots: from now on, one create in `rate`, chosen at random, keeps its call
   stack until the root is deleted. A rate of 0 turns this off; roots that were sampled stay in the
   profile. Each domain uses the new rate after its next minor collection at the latest.
   BOXROOT_PROFILE=rate in the environment sets the rate when the library is set up.
   Lock: none. Cost: two nanoseconds more for a create and a delete, and up to 6 microseconds for a
   create that is sampled. */
void boxroot_profile(uint32_t rate);

/* Writes the profile to a file: for each call stack, the number of live roots that it created,
   estimated from the samples. The file has the heap profile format of gperftools, which pprof
   reads. Roots younger than `age` major collections are left out: leaked roots are old. Lock: none.
   May be called in a signal handler. Failure: false, with errno of write(2), or EBUSY while another
   call is writing. */
bool boxroot_profile_write(int file, uint32_t age);

/* Checks every internal invariant of the calling domain's pools, in time linear in their size.
   Returns NULL if all hold, else a static string that names the broken one, and the misuse that may
   have broken it.
   Lock: required. If boxroot_trim does nothing, this function checks nothing, and returns NULL. For
   tests and debugging. */
char const *boxroot_validate(void);

/* Prints to standard error the number of live roots that each line of the program created, largest
   first. Only the checked flavour knows these lines; the other flavour prints the number of live
   roots alone. Any thread. This function takes no argument, so it can be passed to atexit. */
void boxroot_print_leaks(void);

#ifdef __cplusplus
}
#endif

#endif /* BOXROOT_DEBUG_H */
