//! Programs that the compiler must reject, with the messages that users see.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The `.stderr` files have the messages of this compiler. Other compilers reject the same programs in other words.
const MESSAGES_OF: &str = "rustc 1.95.";

#[test]
fn programs_are_rejected() {
    let version = Command::new("rustc").arg("--version").output().expect("rustc runs");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    if version.starts_with(MESSAGES_OF) {
        trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
    } else {
        println!("{}: only the error codes are compared", version.trim());
        compare_error_codes();
    }
}

/// For other compilers, without trybuild: each program is rejected with the error code that its `.stderr` begins with.
fn compare_error_codes() {
    let dependencies = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let library = newest(&dependencies, "libocaml_boxroot-", ".rlib");
    let mut count = 0;
    for entry in Path::new("tests/compile_fail").read_dir().unwrap() {
        let program = entry.unwrap().path();
        if program.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let expected = std::fs::read_to_string(program.with_extension("stderr")).unwrap();
        let expected = expected.split(':').next().unwrap().to_string();
        let output = Command::new("rustc")
            .args(["--edition", "2021", "--emit", "metadata", "-o", "/dev/null"])
            .arg("-L")
            .arg(&dependencies)
            .arg(format!("--extern=ocaml_boxroot={}", library.display()))
            .arg(&program)
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{} is accepted", program.display());
        assert!(message.contains(&expected), "{}: no {expected} in\n{message}", program.display());
        count += 1;
    }
    assert!(count > 0);
}

fn newest(folder: &Path, start: &str, end: &str) -> PathBuf {
    let is_candidate = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with(start) && name.ends_with(end)
    };
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(is_candidate)
        .max_by_key(|path| path.metadata().unwrap().modified().unwrap())
        .unwrap()
}
