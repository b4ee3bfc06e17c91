//! A word index: an OCaml data structure that Rust fills and owns.
//!
//! OCaml (`ocaml/wordindex.ml`) has a persistent map from words to counts. Rust reads text files,
//! adds their words with an OCaml function, and keeps a `Boxroot` for each word, and for the map
//! after each line: hundreds of thousands of live roots. Then several threads share the roots, ask
//! OCaml about them, and drop them, with and without the lock.
//!
//! `make demo` runs it on the sources of OCaml's standard library.
//!
//! Run it: `cargo run --manifest-path examples/wordindex/Cargo.toml -- README.md Makefile`

#![forbid(unsafe_code)]

use ocaml_boxroot::debug::stats;
use ocaml_boxroot::{
    AttachError, Boxroot, CallError, DomainLock, OCamlString, RootRef, Runtime, ToOCaml,
};
use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use wordindex::OCamlT as Index;

ocaml_boxroot::include_bindings!(); // mod wordindex

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wordindex: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let (texts, skipped) = read_texts(std::env::args_os().skip(1).map(PathBuf::from).collect())?;
    let lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();

    println!("{} lines of {} files", lines.len(), texts.len());
    if skipped > 0 {
        println!("{skipped} files could not be read (see above)");
    }

    Runtime::start()?;
    DomainLock::attach(|lock| build_and_ask(lock, &lines, start))
}

/// Builds the index, line by line, and checks it and its earlier states.
fn build_and_ask(
    lock: &mut DomainLock,
    lines: &[&str],
    start: Instant,
) -> Result<(), Box<dyn Error>> {
    // A root of the map after every line, and the number of words so far, to compare them.
    let mut expected: HashMap<&str, usize> = HashMap::new();
    let mut word_count = 0;
    let mut words_before: Vec<usize> = Vec::with_capacity(lines.len());
    let mut history: Vec<Boxroot<Index>> = Vec::with_capacity(lines.len());
    let mut occurrences: Vec<Boxroot<OCamlString>> = Vec::new();
    let mut index = wordindex::empty(lock)?;
    for line in lines {
        for word in words(line) {
            let root = word.to_ocaml(lock)?;
            index = wordindex::add(lock, &index, &root)?;
            occurrences.push(root);
            *expected.entry(word).or_default() += 1;
            word_count += 1;
        }
        words_before.push(word_count);
        history.push(index.clone_in(lock)?);
    }
    let fed = start.elapsed();
    let while_live = stats();

    check(lock, &index, &expected, word_count)?;
    let top = wordindex::top(lock, &index, 10)?.join("\n");
    let sampled = lock.release(|| -> Result<usize, Box<dyn Error>> {
        let sampled = ask_from_threads(&history, &words_before)?;
        drop_on_threads(history)?;
        drop_on_threads(occurrences)?;
        Ok(sampled)
    })?;

    println!("\nthe most frequent of {word_count} words:\n{top}\n");
    println!(
        "OCaml and Rust agree on all {} distinct words and on {sampled} earlier states.",
        expected.len()
    );
    println!("time: {fed:.2?} to feed, {:.2?} in all", start.elapsed());
    println!("gc: {}", wordindex::gc_counts(lock)?);
    println!("boxroot, with all roots alive: {while_live}");
    println!("boxroot, at the end: {}", stats());
    Ok(())
}

/// Compares the final index with what Rust counted.
fn check(
    lock: &mut DomainLock,
    index: &RootRef<Index>,
    expected: &HashMap<&str, usize>,
    word_count: usize,
) -> Result<(), Box<dyn Error>> {
    for (&word, &n) in expected {
        let counted = wordindex::count(lock, index, word)? as usize;
        if counted != n {
            return Err(format!("OCaml counted {counted} of {word:?}, Rust {n}").into());
        }
    }
    let total = wordindex::total(lock, index)? as usize;
    if total != word_count {
        return Err(format!("OCaml counted {total} words, Rust {word_count}").into());
    }
    Ok(())
}

/// Two threads attach to OCaml and ask it about some of the earlier states. Returns the number of
/// states that were checked.
fn ask_from_threads(history: &[Boxroot<Index>], words_before: &[usize]) -> Result<usize, String> {
    let step = history.len() / 100 + 1;
    let ask = &|first: usize| -> Result<usize, String> {
        let states = (first * step / 2..history.len()).step_by(step);
        let asked = states.len();
        for i in states {
            let total = DomainLock::attach(|lock| wordindex::total(lock, &history[i]));
            let total = total.map_err(|e: CallError| e.to_string())? as usize;
            if total != words_before[i] {
                let expected = words_before[i];
                return Err(format!("after line {i} OCaml has {total} words, Rust {expected}"));
            }
        }
        Ok(asked)
    };
    std::thread::scope(|scope| {
        let threads = [0, 1].map(|first| scope.spawn(move || ask(first)));
        let mut asked = 0;
        for thread in threads {
            asked += thread.join().map_err(|_| "a thread panicked")??;
        }
        Ok(asked)
    })
}

/// Four threads each drop a part of the roots, two of them without ever holding the lock.
fn drop_on_threads<T: Send + Sync>(mut roots: Vec<Boxroot<T>>) -> Result<(), AttachError> {
    let quarter = roots.len() / 4 + 1;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let part = roots.split_off(roots.len().saturating_sub(quarter));
                scope.spawn(move || {
                    if thread % 2 == 0 {
                        drop(part);
                        return Ok(());
                    }
                    DomainLock::with(|lock| part.into_iter().for_each(|r| r.delete_in(lock)))
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    })
}

/// Words: runs of letters, digits and underscores.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The texts of the files, and how many could not be read.
fn read_texts(mut files: Vec<PathBuf>) -> Result<(Vec<String>, usize), Box<dyn Error>> {
    if files.is_empty() {
        files = standard_library()?;
    }
    let mut texts = Vec::new();
    for file in &files {
        match std::fs::read(file).map(String::from_utf8) {
            Ok(Ok(text)) => texts.push(text),
            Ok(Err(error)) => {
                let offset = error.utf8_error().valid_up_to();
                eprintln!("wordindex: {}: not UTF-8 (byte {offset}); skipped", file.display());
            }
            Err(error) => eprintln!("wordindex: {}: {error}; skipped", file.display()),
        }
    }
    if texts.is_empty() {
        return Err("none of the files could be read".into());
    }
    let skipped = files.len() - texts.len();
    Ok((texts, skipped))
}

/// The `.ml` and `.mli` files in the folder of the OCaml that compiled this program.
fn standard_library() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut folders = vec![PathBuf::from(env!("OCAML_WHERE"))];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .map_err(|error| format!("{}: {error}; name files to read", folder.display()))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "ml" || e == "mli") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
