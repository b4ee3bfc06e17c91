//! Calls and conversions under criterion, with this crate and with others:
//! `FILTER=border/call_int`.

use crate::harness::Result;
use criterion::Criterion;
use std::path::Path;
use std::process::{exit, Command, Stdio};
use std::time::{Duration, Instant};

/// A crate, the path of its program, and the measures that it has.
struct Program {
    name: String,
    path: String,
    measures: Vec<String>,
}

/// One measure with each crate that has it; without a name, all measures.
pub fn bench(criterion: &mut Criterion, root: &Path, name: Option<&str>) -> Result<()> {
    let script = root.join(".ci/border.py");
    let mut programs = Vec::new();
    for line in output(Command::new(script).arg("programs"))?.lines() {
        let (name, path) = line.split_once(' ').ok_or("a program without a path")?;
        let measures = output(Command::new(path).arg("--list"))?;
        let measures = measures.lines().map(String::from).collect();
        programs.push(Program { name: name.to_string(), path: path.to_string(), measures });
    }
    let mut all: Vec<&String> = programs.iter().flat_map(|program| &program.measures).collect();
    all.sort();
    all.dedup();
    let chosen: Vec<&String> =
        all.iter().copied().filter(|measure| name.is_none_or(|name| name == *measure)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = all.iter().map(|name| name.as_str()).collect();
        return Err(format!("no such measure; choose one of {}", names.join(" ")).into());
    }
    for measure in chosen {
        let mut group = criterion.benchmark_group(format!("border/{measure}"));
        group.sample_size(20).warm_up_time(Duration::from_secs(1));
        for Program { name, path, .. } in programs.iter().filter(|p| p.measures.contains(measure)) {
            let time = |times: u64| {
                run(path, measure, times).unwrap_or_else(|error| {
                    eprintln!("bench: {path} {measure}: {error}");
                    exit(1)
                })
            };
            // The time that a process takes without any operation.
            let start = (0..10).map(|_| time(0)).min().unwrap_or_default();
            group.bench_function(name, |bencher| {
                bencher.iter_custom(|times| {
                    time(times).saturating_sub(start).max(Duration::from_nanos(1))
                })
            });
        }
        group.finish();
    }
    Ok(())
}

/// The time that a process takes for a number of operations, with the same minor heap as in
/// `.ci/border.py`.
fn run(path: &str, measure: &str, times: u64) -> Result<Duration> {
    let start = Instant::now();
    let mut command = Command::new(path);
    output(command.args([measure, &times.to_string()]).env("OCAMLRUNPARAM", "s=32k"))?;
    Ok(start.elapsed())
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(
            format!("{}: {}", command.get_program().to_string_lossy(), output.status).into()
        );
    }
    Ok(String::from_utf8(output.stdout)?)
}
