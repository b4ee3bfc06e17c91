//! One test for each situation in which the library must work, on the raw interface. The numbers in front of a
//! test are its rows in the table of situations in `boxroot-c/DESIGN.md`.

#[path = "marking.rs"]
mod collector;
#[path = "../support/mod.rs"]
mod common;
#[path = "copies.rs"]
mod copies;
#[path = "domains.rs"]
mod domains;
#[path = "memory.rs"]
mod failure;
#[path = "forks.rs"]
mod forks;
#[path = "hooks.rs"]
mod hooks;
#[path = "roots.rs"]
mod life;
#[path = "statistics.rs"]
mod statistics;
#[path = "../support/roots.rs"]
mod support;
#[path = "threads.rs"]
mod threads;

use collector::*;
use common::run_scenarios;
use copies::*;
use domains::*;
use failure::*;
use forks::*;
use hooks::*;
use life::*;
use statistics::*;
use threads::*;

scenarios!(
    SCENARIOS:
    // life.rs
    inlined_round_trip;
    many_roots_survive;
    modify_between_generations;
    fast_paths_stay_open;
    trim_gives_memory_back;
    memory_comes_back;
    1: deleting_null_does_nothing;
    11: create_before_startup_and_after_teardown;
    12: delete_after_teardown_and_shutdown;
    12: delete_in_a_static_destructor;
    22: a_callback_modifies_a_root_that_is_read;
    26: immediates_like_pointers;
    27: values_of_all_shapes;
    28: pointers_out_of_the_heap, ocaml5 = false;
    36: one_root_per_pool;
    3, 4: validate_names_a_misuse;
    // statistics.rs
    statistics_by_state;
    statistics_count;
    statistics_of_several_domains, ocaml5 = true;
    // threads.rs
    9: create_and_modify_without_the_lock;
    10: delete_without_the_lock;
    12: delete_in_thread_local_destructors;
    17: a_thread_registers_again;
    19: threads_of_ocaml_take_turns;
    19: every_thread_deletes_at_once;
    42: nothing_believes_the_lock_on_a_thread_that_ends;
    42: nothing_believes_the_lock_without_events, ocaml5 = false;
    42: events_of_another_name, ocaml5 = false;
    42: threads_end_after_the_runtime, ocaml5 = false;
    42: a_thread_exits_with_cleanup, ocaml5 = false, environment = [("OCAMLRUNPARAM", "c")];
    42: setup_on_another_thread, ocaml5 = false;
    // domains.rs
    12: a_destructor_runs_when_the_domain_id_is_used_again, ocaml5 = true;
    12: a_domain_ended_before_setup, ocaml5 = true;
    12: a_domain_ended_before_setup_and_its_id_is_used_again, ocaml5 = true;
    13: a_domain_ends_alone, ocaml5 = true;
    13: a_domain_ends_and_no_other_made_a_root, ocaml5 = true;
    13: domains_end_at_once, ocaml5 = true;
    13: a_domain_ends_while_its_deletes_wait, ocaml5 = true;
    14: domain_ids_are_used_again, ocaml5 = true;
    15: remote_deletes_race_with_the_end, ocaml5 = true;
    15: a_domain_that_deletes_waits_or_ends, ocaml5 = true;
    16: a_thousand_domain_lives, ocaml5 = true;
    16: all_128_domains_are_alive, ocaml5 = true;
    35: producer_and_consumer_without_collections, ocaml5 = true;
    // forks.rs
    18: fork_while_a_thread_deletes;
    18: fork_while_a_delete_goes_to_a_former_owner, ocaml5 = true;
    46: fork_while_domains_run, ocaml5 = true;
    46: fork_while_a_domain_changes_its_lists, ocaml5 = true;
    46: fork_while_domains_run_and_a_delete_is_under_way, ocaml5 = true;
    // hooks.rs
    5: delete_in_callbacks;
    6: delete_in_custom_finalisers;
    6, 7: finalisers_run_inside_a_scan, ocaml5 = true;
    7: create_is_refused_in_a_scan;
    8: create_and_delete_in_minor_hooks;
    8, 13: a_create_in_a_hook_leaves_orphans_to_the_scans, ocaml5 = true;
    29: other_libraries_hooks_see_every_scan;
    39: roots_made_in_minor_hooks, ocaml5 = true;
    39: roots_made_in_slice_hooks, ocaml5 = true;
    39: roots_made_in_slice_hooks_of_several_domains, ocaml5 = true, environment = [("OCAMLRUNPARAM", "v=0")];
    39: roots_made_in_other_libraries_hooks, ocaml5 = true;
    39: deletes_among_values_that_were_just_promoted, ocaml5 = true;
    27: infix_pointers_are_complete_after_a_scan, ocaml5 = true;
    // collector.rs
    // v=0: without V=1, which `make test-debug` sets. With it, the debug runtime of OCaml 5.3 asserts
    // that its statistics are right after a compaction, and they are wrong if there was garbage
    // (an OCaml program alone shows it; see docs/reliability.md).
    23: compaction_while_roots_are_deleted, environment = [("OCAMLRUNPARAM", "v=0")];
    23: finalisers_run_in_a_compaction, ocaml5 = true, environment = [("OCAMLRUNPARAM", "v=0")];
    24: the_heap_is_verified, environment = [("OCAMLRUNPARAM", "V=1,s=4k")];
    25: barrier_hits_are_counted, ocaml5 = true;
    25: deletes_wait_for_the_marker, ocaml5 = true;
    25: modify_moves_a_root_that_is_being_marked, ocaml5 = true;
    25: values_move_between_roots_while_marking;
    40: teardown_while_marking;
    41: memory_after_a_teardown_while_marking;
    // copies.rs
    25: copies_are_freed_in_their_cycle, ocaml5 = false;
    25: copies_are_forgotten_without_the_hook, ocaml5 = false;
    25: copies_do_not_count_twice, ocaml5 = false;
    25: roots_that_outnumber_values, ocaml5 = false;
    25: nothing_is_copied_if_the_collector_is_off, ocaml5 = false;
    40: copies_are_forgotten_after_a_teardown, ocaml5 = false;
    28: memory_becomes_a_part_of_the_heap, ocaml5 = false;
    // failure.rs
    20: a_panic_unwinds_past_roots;
    20: cpp_pointer_and_unwinding;
    21: an_exception_jumps_over_a_root;
    33: each_allocation_fails_once;
    33: each_allocation_fails_for_good;
    33: many_creates_are_all_or_none;
    50: deletes_keep_errno;
);

fn main() {
    run_scenarios(SCENARIOS)
}
