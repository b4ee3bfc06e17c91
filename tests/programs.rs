//! Whole programs whose OCaml side is linked in other ways than that of the other tests; see `tests/programs/`.

#[path = "support/process.rs"]
mod process;

use process::{output_within, text_of};
use std::process::{Command, Output};
use std::time::Duration;

fn output(program: &str, settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(program);
    command.envs(settings.iter().copied());
    output_within(Duration::from_secs(300), &mut command).unwrap()
}

fn succeed(program: &str, settings: &[(&str, &str)]) {
    let output = output(program, settings);
    assert!(output.status.success(), "{}", text_of(&output));
}

#[test]
fn a_short_walk() {
    let settings = [("OPERATIONS", "100000"), ("ROOTS", "8000"), ("LIVES", "10")];
    for seed in ["1", "2"] {
        succeed(env!("CARGO_BIN_EXE_walk"), &[&settings[..], &[("SEED", seed)]].concat());
    }
}

#[test]
fn a_walk_notices_a_root_that_is_lost() {
    let settings = [("OPERATIONS", "100000"), ("DOMAINS", "1"), ("LOSE", "1")];
    let output = output(env!("CARGO_BIN_EXE_walk"), &settings);
    assert!(text_of(&output).contains("a root lost a"), "{}", text_of(&output));
}
