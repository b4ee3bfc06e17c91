//! Programs that the compiler must reject. Each file of `compile_fail` has the programs on one
//! subject. A line `//# name` begins a program, and the lines before the first program belong to
//! all programs. A comment `//~ E0502 words` expects that rustc reports E0502 on this line, with
//! these words in the message, a label, a note or a help. `//~ ERROR words` is for errors without a
//! code, `//~^` for the line above, and `//~|` for the line of the previous comment. Errors in a
//! macro count for the line of its call. rustc must report all of these errors and no others;
//! several errors that match one comment count as one.

use serde_json::Value as Json;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

struct Program {
    name: String,
    /// The lines of other programs are empty here.
    source: String,
}

#[derive(Debug)]
struct Error {
    line: usize,
    code: String,
    text: String,
}

fn programs(file: &str, text: &str) -> Vec<Program> {
    let mut shared = String::new();
    let mut programs: Vec<Program> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix("//# ") {
            let above = "\n".repeat(index + 1 - shared.lines().count());
            programs.push(Program {
                name: format!("{file}, {name}"),
                source: format!("{shared}{above}"),
            });
        } else {
            let source = programs.last_mut().map_or(&mut shared, |program| &mut program.source);
            source.push_str(line);
            source.push('\n');
        }
    }
    programs
}

fn expected(source: &str) -> Vec<Error> {
    let mut errors: Vec<Error> = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let Some((_, comment)) = line.split_once("//~") else { continue };
        let line = match comment.strip_prefix('|') {
            Some(_) => errors.last().expect("a comment `//~` before `//~|`").line,
            None => index + 1 - comment.chars().take_while(|c| *c == '^').count(),
        };
        let (code, text) = comment
            .trim_start_matches(['^', '|'])
            .trim()
            .split_once(' ')
            .expect("`//~ CODE words`");
        assert!(
            code == "ERROR" || code.len() == 5 && code.starts_with('E'),
            "no code of an error: {code}"
        );
        errors.push(Error { line, code: code.into(), text: text.into() });
    }
    errors
}

/// The errors that rustc reports for a program, with these arguments.
fn reported(arguments: &[String], source: &str) -> Vec<Error> {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args([
            "--edition=2021",
            "--crate-type=lib",
            "--emit=metadata",
            "--error-format=json",
            "--out-dir",
            env!("CARGO_TARGET_TMPDIR"),
        ])
        .args(arguments)
        .arg("-")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("rustc runs");
    rustc.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    let output = rustc.wait_with_output().unwrap();
    let lines = String::from_utf8(output.stderr).unwrap();
    let diagnostics = lines.lines().map(|line| serde_json::from_str::<Json>(line).expect(line));
    let errors = diagnostics.filter(|d| d["level"] == "error" && !is_summary(d)).map(|d| error(&d));
    errors.collect()
}

fn is_summary(diagnostic: &Json) -> bool {
    list(&diagnostic["spans"]).is_empty()
        && text(&diagnostic["message"]).starts_with("aborting due to")
}

fn error(diagnostic: &Json) -> Error {
    let mut spans: Vec<&Json> = list(&diagnostic["spans"]).iter().collect();
    spans.sort_by_key(|span| span["is_primary"] != true);
    let mut texts = vec![text(&diagnostic["message"])];
    texts.extend(spans.iter().map(|span| text(&span["label"])));
    for child in list(&diagnostic["children"]) {
        texts.push(text(&child["message"]));
        spans.extend(list(&child["spans"]));
    }
    Error {
        line: spans.iter().find_map(|span| line_of_the_program(span)).unwrap_or(0),
        code: diagnostic["code"]["code"].as_str().unwrap_or("ERROR").into(),
        text: texts.join("\n"),
    }
}

fn line_of_the_program(mut span: &Json) -> Option<usize> {
    while !span["expansion"].is_null() {
        span = &span["expansion"]["span"];
    }
    (span["file_name"] == "<anon>").then(|| span["line_start"].as_u64().unwrap() as usize)
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or("")
}

fn differences(expected: &[Error], reported: &[Error]) -> Vec<String> {
    let fits =
        |e: &Error, r: &Error| e.line == r.line && e.code == r.code && r.text.contains(&e.text);
    let missing = expected.iter().filter(|e| !reported.iter().any(|r| fits(e, r)));
    let others = reported.iter().filter(|r| !expected.iter().any(|e| fits(e, r)));
    let missing =
        missing.map(|e| format!("  line {}: not reported: {} {}", e.line, e.code, e.text));
    let others = others.map(|r| {
        format!("  line {}: not expected: {} {}", r.line, r.code, r.text.replace('\n', "\n    "))
    });
    let none = expected.is_empty().then(|| "  no comment `//~` says why it is rejected".into());
    missing.chain(others).chain(none).collect()
}

/// The arguments with which rustc finds the crate that cargo compiled for this test.
fn library() -> Vec<String> {
    let test = std::env::current_exe().unwrap();
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args([
            "build",
            "--lib",
            "--features=link-runtime",
            "--message-format=json",
            "--target-dir",
        ])
        .arg(test.ancestors().nth(3).unwrap())
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo build failed");
    let lines = String::from_utf8(output.stdout).unwrap();
    let is_ours =
        |d: &Json| d["reason"] == "compiler-artifact" && d["target"]["name"] == "ocaml_boxroot";
    let artifact =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).find(is_ours).unwrap();
    let library = list(&artifact["filenames"])
        .iter()
        .map(text)
        .find(|name| name.ends_with(".rmeta"))
        .unwrap();
    let folder = PathBuf::from(library).parent().unwrap().display().to_string();
    vec![format!("--extern=ocaml_boxroot={library}"), format!("-Ldependency={folder}")]
}

#[test]
fn programs_are_rejected() {
    let mut all = Vec::new();
    for file in std::fs::read_dir("tests/compile_fail").unwrap() {
        let file = file.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        all.extend(programs(&name, &std::fs::read_to_string(&file).unwrap()));
    }
    assert!(!all.is_empty());
    let library = library();
    let (next, problems) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(program) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = differences(
                        &expected(&program.source),
                        &reported(&library, &program.source),
                    );
                    if !found.is_empty() {
                        problems.lock().unwrap().push(format!(
                            "{}:\n{}",
                            program.name,
                            found.join("\n")
                        ));
                    }
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    assert!(
        problems.is_empty(),
        "{} of {} programs:\n{}",
        problems.len(),
        all.len(),
        problems.join("\n")
    );
}

/// Compares files with the errors of rustc, and counts the differences.
#[test]
fn differences_are_found() {
    let differs = |text: &str| {
        let programs = programs("file", text);
        assert_eq!(programs.len(), 1, "{text}");
        differences(&expected(&programs[0].source), &reported(&[], &programs[0].source)).len()
    };
    let wrong = "type Text = &'static str;\n//# name\nfn f() -> Text { 5 }";
    assert_eq!(differs(&format!("{wrong} //~ E0308 mismatched types")), 0);
    assert_eq!(differs(&format!("{wrong}\n//~^ E0308 expected `&str`, found integer")), 0); // a label
    let both = "\n//~^ E0308 mismatched\n//~| E0308 expected `&str`";
    assert_eq!(differs(&format!("{wrong}{both}")), 0);
    assert_eq!(differs(wrong), 2); // no comment
    assert_eq!(differs(&format!("{wrong} //~ E0277 mismatched types")), 2); // another code
    assert_eq!(differs(&format!("{wrong} //~ ERROR mismatched types")), 2); // no code
    assert_eq!(differs(&format!("{wrong} //~ E0308 other words")), 2);
    assert_eq!(differs(&format!("\n{wrong}\n//~^^ E0308 mismatched types")), 2); // another line
    assert_eq!(differs(&format!("{wrong} //~ E0308 mismatched types\nfn g() -> Text {{ 5 }}")), 1); // one more
    assert_eq!(differs("//# name\nfn f() -> i32 { 5 } //~ E0308 mismatched types"), 1); // accepted
    assert_eq!(differs("//# name\nfn f() -> i32 { 5 }"), 1);
    // In a macro, and without a code.
    let of_a_macro = "macro_rules! m {\n() => { compile_error!(\"no\"); }\n}\n//# name\nm!();";
    assert_eq!(differs(&format!("{of_a_macro} //~ ERROR no")), 0);
    assert_eq!(differs(of_a_macro), 2);
}
