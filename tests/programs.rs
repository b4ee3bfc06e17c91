//! Whole programs whose OCaml side is linked in another way; see `tests/programs/`.

use std::process::Command;

fn run(program: &str) {
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn without_the_threads_library() {
    run(env!("CARGO_BIN_EXE_no_threads"));
}

#[test]
fn row_37_threads_initialised_after_setup() {
    run(env!("CARGO_BIN_EXE_late_threads"));
}
