//! Programs that hung once, or could hang. Each runs in a process of its own, which is killed if it takes too long.

#[path = "support/mod.rs"]
mod common;
#[path = "safe/domains.rs"]
mod domains;
#[path = "safe/shutdown.rs"]
mod ends;
#[path = "safe/forks.rs"]
mod forks;
#[path = "safe/startup.rs"]
mod starts;
#[path = "safe/threads.rs"]
mod threads;

use common::exported::{Run, RUN};
use common::run_scenarios_within;
use domains::*;
use ends::*;
use forks::*;
use ocaml_boxroot::{Boxroot, DomainLock, Exception, Function, OCamlInt, ToOCaml};
use starts::*;
use std::time::Duration;
use threads::*;

scenarios!(
    SCENARIOS:
    // ends.rs
    a_worker_exits_while_another_thread_holds_the_lock;
    main_ends_while_workers_use_ocaml;
    the_handle_is_dropped_while_workers_use_ocaml;
    the_handle_is_lost_by_an_error_in_a_scope;
    exit_of_ocaml_with_cleanup, environment = [("OCAMLRUNPARAM", "c")];
    exit_of_ocaml_with_cleanup_while_threads_drop, environment = [("OCAMLRUNPARAM", "c")];
    shutdown_with_cleanup, environment = [("OCAMLRUNPARAM", "c"), ("MALLOC_PERTURB_", "165")];
    // starts.rs
    arguments;
    export_during_initialisation;
    start_fails_after_an_export;
    get_or_start_where_a_start_failed;
    get_or_start_on_many_threads;
    get_or_start_during_initialisation;
    the_starting_thread_ends;
    rust_handles_stack_overflows_again;
    stack_overflow_in_ocaml, environment = [("OCAMLRUNPARAM", "l=1M")];
    // threads.rs
    a_hundred_thousand_short_threads;
    threads_that_come_back_at_once;
    a_worker_that_ends_is_joined_under_the_lock;
    threads_end_while_the_lock_is_held;
    shutdown_races_with_attach;
    a_thread_of_another_library;
    signal_stacks_are_passed_on, ocaml5 = true;
    // forks.rs
    command_with_pre_exec_after_a_worker_ended;
    fork_without_the_lock;
    fork_under_the_lock;
    fork_during_a_start;
    fork_of_ocaml;
    fork_while_threads_drop_roots;
    // domains.rs
    domains_contend_for_a_mutex, ocaml5 = true;
    domains_contend_for_the_rest, ocaml5 = true;
    threads_wait_for_each_other;
);

fn main() {
    run_scenarios_within(Duration::from_secs(120), SCENARIOS)
}

/// Has OCaml run `body(n)`. `how` names a function of exported.ml, such as "run".
fn ocaml(lock: &mut DomainLock, how: &str, n: isize, body: Run) -> Result<isize, Exception> {
    *RUN.lock().unwrap() = Some(body);
    // SAFETY: all functions of exported.ml that are called here have this type.
    let f: Boxroot<Function<(OCamlInt,), OCamlInt>> = unsafe { lock.named(how) }.unwrap();
    let n = n.to_ocaml(lock).unwrap();
    f.call(lock, &n).map(|(result, _)| result.to_int())
}
