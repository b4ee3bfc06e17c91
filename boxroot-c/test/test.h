/* SPDX-License-Identifier: MIT */
#ifndef BXR_TEST_H
#define BXR_TEST_H

#include "check.h"
#include "orphans.h"

/* Tests that fork, or send signals. */
#ifdef _WIN32
#define POSIX_TESTS(TEST)
#else
#define POSIX_TESTS(TEST)                                                                          \
  TEST(pool_second_delete)                                                                         \
  TEST(profile_draws)                                                                              \
  TEST(profile_draws_again)                                                                        \
  TEST(profile_of_batches)                                                                         \
  TEST(profile_of_moves)                                                                           \
  TEST(profile_after_moves)                                                                        \
  TEST(profile_of_orphans)                                                                         \
  TEST(profile_of_short_lives)                                                                     \
  TEST(profile_of_values)                                                                          \
  TEST(profile_of_old_roots)                                                                       \
  TEST(profile_mirrors)                                                                            \
  TEST(profile_of_many_stacks)                                                                     \
  TEST(profile_of_deep_stacks)                                                                     \
  TEST(profile_of_an_age)                                                                          \
  TEST(profile_without_files)                                                                      \
  TEST(profile_in_signal_handlers)                                                                 \
  TEST(profile_after_fork)                                                                         \
  TEST(profile_without_memory)
#endif

/* The tests, in the order in which they run: void test_NAME(void). */
#define TESTS(TEST)                                                                                \
  TEST(pool_slots)                                                                                 \
  TEST(pool_heads)                                                                                 \
  TEST(pool_kinds)                                                                                 \
  POSIX_TESTS(TEST)                                                                                \
  TEST(domain_promotion)                                                                           \
  TEST(domain_lists_few_roots)                                                                     \
  TEST(domain_lists_what_modify_stores)                                                            \
  TEST(domain_lists_as_many_as_fit)                                                                \
  TEST(domain_lists_no_more)                                                                       \
  TEST(domain_fills_partial_pools_first)                                                           \
  TEST(domain_releases_a_share)                                                                    \
  TEST(domain_releases_the_coldest)                                                                \
  TEST(domain_trim)                                                                                \
  TEST(domain_trim_remote_deletes)                                                                 \
  TEST(domain_trim_neighbours)                                                                     \
  TEST(domain_tear_down_twice)                                                                     \
  TEST(domain_trim_refused)                                                                        \
  TEST(pages_larger_than_pools)                                                                    \
  TEST(pages_in_use_block_no_others)                                                               \
  TEST(remote_bits_have_room)                                                                      \
  TEST(remote_deletes)                                                                             \
  TEST(remote_batches)                                                                             \
  TEST(remote_late_delete)                                                                         \
  TEST(remote_race_with_adoptions)                                                                 \
  TEST(remote_drains_a_share)                                                                      \
  TEST(remote_after_fork)                                                                          \
  TEST(orphans)                                                                                    \
  TEST(orphans_are_idle)                                                                           \
  TEST(orphans_without_pools)                                                                      \
  TEST(barrier_closes_both_ways)                                                                   \
  TEST(waiting_depends_on_the_value)                                                               \
  TEST(waiting_until_the_next_snapshot)                                                            \
  TEST(waiting_is_certain)                                                                         \
  TEST(waiting_batches)                                                                            \
  TEST(waiting_is_ripe_or_not)                                                                     \
  TEST(waiting_remote_deletes)                                                                     \
  TEST(waiting_is_freed_by_shares)                                                                 \
  TEST(scan_of_few_pools)                                                                          \
  TEST(scan_after_many_ends)                                                                       \
  TEST(scan_hands_pools_over)                                                                      \
  TEST(scan_of_a_runtime_with_other_headers)                                                       \
  TEST(scan_of_a_runtime_that_does_not_mark)                                                       \
  TEST(scan_owes_the_work_of_forced_cycles)                                                        \
  TEST(scan_frees_what_waits)                                                                      \
  TEST(scan_empties_pools)                                                                         \
  TEST(scan_unmaps_what_was_visited)                                                               \
  TEST(scan_with_large_pages)                                                                      \
  TEST(scan_hastens_slices)                                                                        \
  TEST(scan_defers_deletes)                                                                        \
  TEST(uses)                                                                                       \
  TEST(uses_to_lock)                                                                               \
  TEST(uses_paused)                                                                                \
  TEST(uses_paused_by_a_thread_that_is_gone)                                                       \
  TEST(uses_to_lock_after_fork)                                                                    \
  TEST(uses_after_fork)                                                                            \
  TEST(uses_after_fork_of_another_user)                                                            \
  TEST(fork_while_another_thread_sets_up)                                                          \
  TEST(os_errno)                                                                                   \
  TEST(os_map)

#define DECLARE(name) void test_##name(void);
TESTS(DECLARE)
#undef DECLARE

/* Room for the roots of any pool. */
enum { MANY = 1 << 16 };

/* The pool whose slot the next create takes. */
struct bxr_pool *next_pool(struct bxr_domain *domain);

/* Whether the pool is current, and has no free slot. */
bool is_full(struct bxr_domain *domain, struct bxr_pool *pool);

/* A root for an immediate. */
boxroot create(struct bxr_domain *domain);

/* Promotes the pools, as a minor scan does. */
void promote(struct bxr_domain *domain);

/* Begins a cycle, and unmaps all superfluous empty pools, as the next minor scan does. */
void begin_cycle_and_release(struct bxr_domain *domain);

/* A pool with all slots taken: roots[i] holds the immediate i. */
struct bxr_pool *fill(struct bxr_domain *domain, boxroot *roots);

/* OCaml 5: these pretend that the domain's marker has something to visit, and that it is done. */
void begin_marking(struct bxr_domain *domain);
void end_marking(void);

/* Whether memory is mapped at the 4096 bytes from `page`, which is a multiple of 4096. */
bool is_mapped(void *page);

/* The number of pools in a list, and of used slots in all pools. */
uint32_t length(struct bxr_link *list);
size_t used(struct bxr_domain *domain);

#endif
