//! The C interface, called from Rust. There is one test for each situation in which the library
//! must work.

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod copies;
mod debugger;
mod domains;
mod forks;
mod hooks;
mod lifecycle;
mod marking;
mod memory;
mod profile;
mod roots;
mod threads;

fn main() {
    support::runner::run_tests_within(std::time::Duration::from_secs(600))
}
