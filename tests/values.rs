//! Conversions of values of all kinds from Rust to OCaml and back; calls in both directions; exceptions; Rust values and
//! functions that OCaml owns.

#[path = "safe/boxes.rs"]
mod boxes;
#[path = "safe/functions.rs"]
mod calls;
#[path = "safe/closures.rs"]
mod closures;
#[path = "safe/collections.rs"]
mod collections;
#[path = "support/mod.rs"]
mod common;
#[path = "safe/conversions.rs"]
mod conversions;
#[path = "safe/exceptions.rs"]
mod exceptions;
#[path = "safe/memory.rs"]
mod memory;
#[path = "safe/types.rs"]
mod types;
#[path = "../ocaml-boxroot/src/guide/ours.rs"]
mod words;

use boxes::*;
use calls::*;
use closures::*;
use collections::*;
use common::run_scenarios;
use conversions::*;
use exceptions::*;
use memory::*;
use types::*;

scenarios!(
    SCENARIOS:
    integers_of_all_widths;
    numbers_agree_with_ocaml;
    results_and_tuples;
    lists_of_existing_roots;
    arrays_of_floats;
    arrays_of_floats_and_others;
    borrowed_bytes;
    strings_that_are_not_utf8;
    conversions_where_memory_runs_out;
    kinds_and_blocks;
    kinds_of_everything;
    pointers_out_of_the_heap, ocaml5 = false;
    records;
    records_of_floats;
    unboxed_records;
    variants;
    polymorphic_variants;
    deep_values;
    deep_values_of_other_types;
    deep_values_at_the_end_of_the_stack;
    calls_without_end;
    exceptions_are_told_apart;
    exception_texts_are_whole;
    exceptions_from_rust;
    exception_texts_anywhere;
    functions_of_ocaml;
    exported_functions_convert;
    exported_functions_refuse;
    exported_texts_are_whole;
    the_program_of_the_guide;
    maps_and_sets;
    sequences;
    bigarrays;
    bigarrays_from_rust;
    closures_of_all_arities;
    closures_apply_partially;
    closures_allocate_and_call_back;
    closures_fail_as_exceptions;
    closures_are_dropped;
    closures_that_forget_themselves;
    closures_in_threads;
    closures_in_domains, ocaml5 = true;
    boxes_are_dropped_once;
    boxes_hold_roots;
    boxes_that_panic_and_attach;
    boxes_in_domains, ocaml5 = true;
    boxes_dropped_by_another_thread, ocaml5 = true;
    boxes_at_shutdown;
);

fn the_program_of_the_guide() {
    ocaml_boxroot::Runtime::start().unwrap();
    assert_eq!(words::words("b a b").unwrap(), [("a".to_string(), 1), ("b".to_string(), 2)]);
    assert!(words::words("").unwrap_err().to_string().contains("no words"));
}

fn main() {
    run_scenarios(SCENARIOS)
}
