/* SPDX-License-Identifier: MIT */
/* Negative controls: rules of the allocator that can be switched off, one at a time, to prove that a
   test notices. `make test-negative` does so, with -DBXR_WITHOUT_RULE=NAME. In all other builds BXR_RULE
   is true, and this file has no effect. The list is the only source for that command and for the table
   in DESIGN.md: name, rule, test, and the versions of OCaml that the test is for. */
#ifndef BXR_RULES_H
#define BXR_RULES_H

#ifdef BXR_WITHOUT_RULE

/* clang-format off */
#define BXR_RULES(RULE) \
  RULE(RANGE_ENDS_AT_HIGH_WATER, "words of a range are values or odd: it ends at the high-water mark", "values_move_between_roots_while_marking", "5") \
  RULE(LEAVE_THE_SNAPSHOT, "a value that the marker may still have to visit stays in its slot", "values_move_between_roots_while_marking", "5") \
  RULE(WAIT_UNTIL_MARKED, "it stays until the domain has nothing left to mark", "values_move_between_roots_while_marking", "5") \
  RULE(CLOSE_FAST_OWNER, "a pool that is handed over is closed to the fast paths", "values_move_between_roots_while_marking", "5") \
  RULE(CLOSE_UNCOUNTED, "a current pool that is handed over is closed to uncounted deletes, too", "roots_made_in_minor_hooks", "5") \
  RULE(KEEP_WHAT_IS_VISITED, "memory that the marker may visit is not unmapped", "trim_gives_memory_back", "5") \
  RULE(FORGET_YOUNG_VALUES, "no young value stays in a pool that the marker may visit after teardown", "teardown_while_marking", "5") \
  RULE(SINGLE_SLOTS_TO_OTHERS, "verification and compaction get single slots", "compaction_while_roots_are_deleted", "5.2") \
  RULE(COPY_INFIX_HEADERS, "the header of an infix pointer is copied before a slot has its new address", "infix_pointers_are_complete_after_a_scan", "5-5.4") \
  RULE(CLOSE_WHILE_SCANNING, "a record is closed while it is scanned", "finalisers_run_inside_a_scan", "5") \
  RULE(ADOPT_ORPHANS, "orphans are adopted", "a_domain_ends_alone", "5") \
  RULE(ADOPT_IN_SCANS, "only minor scans adopt them", "a_create_in_a_hook_leaves_orphans_to_the_scans", "5") \
  RULE(ENDED_IS_WITHOUT_LOCK, "a thread whose domain has ended holds no lock", "a_destructor_runs_when_the_domain_id_is_used_again", "5") \
  RULE(FLUSH_BEFORE_END, "a domain that ends sends the deletes that it has collected", "a_domain_that_deletes_waits_or_ends", "5") \
  RULE(WAIT_IN_THE_SNAPSHOT, "a slot that began to wait in this cycle is not ripe before it was visited", "values_move_between_roots_while_marking", "5") \
  RULE(INHERIT_WHAT_WAITS, "whoever adopts the pools of a domain that has ended frees the deletes that wait in them", "a_domain_ends_while_its_deletes_wait", "5") \
  RULE(FLUSH_BEFORE_SCAN, "a domain that scans sends the deletes that it has collected", "a_domain_that_deletes_waits_or_ends", "5") \
  RULE(TRUST_AFTER_PROOF, "a thread is trusted to hold a lock when it has made a root or scanned", "a_domain_ended_before_setup", "5") \
  RULE(ASK_THE_EVENT, "a thread holds no lock after its termination event was triggered", "nothing_believes_the_lock_on_a_thread_that_ends", "4") \
  RULE(TRUST_WITH_AN_EVENT, "a thread whose event is not known is not trusted, except the main one", "nothing_believes_the_lock_without_events", "4") \
  RULE(COPY_WHAT_IS_IN_THE_HEAP, "a copy for the marker has no address of memory outside the heap", "memory_becomes_a_part_of_the_heap", "4.14") \
  RULE(FREE_COPIES, "the copies of a cycle are freed in this cycle", "copies_are_freed_in_their_cycle", "4.14") \
  RULE(FORGET_COPIES, "those that were not freed are forgotten", "copies_are_forgotten_without_the_hook", "4.14") \
  RULE(LIMIT_COPIES, "copies take a limited part of the heap", "roots_that_outnumber_values", "4.14") \
  RULE(REPAIR_OWN_RECORD, "after a fork, records that another domain may have been changing are left alone", "fork_while_a_domain_changes_its_lists", "5")
/* clang-format on */

#define BXR_RULE_NUMBER(name, rule, test, versions) BXR_RULE_##name,
enum bxr_rule { BXR_RULES(BXR_RULE_NUMBER) BXR_RULE_COUNT };
#define BXR_PREFIXED(name) BXR_RULE_##name
#define BXR_RULE_OF(name) BXR_PREFIXED(name)
#define BXR_RULE(name) (BXR_RULE_##name != BXR_RULE_OF(BXR_WITHOUT_RULE))

#else
#define BXR_RULE(name) true
#endif

#endif
