//! Compares ours with the registry crate `ocaml-boxroot-sys` 0.4.0, side by side.
//!
//! ```text
//! make bench-peer OCAML=5.3.0                     # all programs, a table on standard output
//! make bench-peer OCAML=5.3.0 ONLY="pair batch"   # some of them
//! ```
//!
//! Each figure comes from processes that alternate, ours, peer, ours, peer, …; the table gives
//! medians, their ratio, and the spread (the smallest and largest ratio of neighbours).

mod harness;

use harness::{chosen, median, number, Figures, Result, Suite, COUNTS};
use std::path::Path;
use std::process::ExitCode;

/// A program, what it runs on our side and on the others, and how often.
const PROGRAMS: [(&str, &str, &[&str], usize); 15] = [
    ("perm_count", "boxroot", &["peer", "gc", "ocaml_ref"], 5),
    ("synthetic", "boxroot", &["peer", "gc", "ocaml_ref"], 5),
    ("globroots", "boxroot", &["peer", "gc", "ocaml_ref"], 9),
    ("pair", "boxroot", &["peer"], 9),
    ("batch", "boxroot", &["peer"], 9),
    ("pair", "rust_token", &["peer_rust_raw"], 9),
    ("batch", "rust_token", &["peer_rust_raw"], 9),
    ("pair", "rust_drop", &["peer_rust_raw"], 9),
    ("pair", "rust_raw", &["peer_rust_raw"], 9),
    ("attach", "rust_token", &["runtime"], 9),
    ("pause", "boxroot", &["peer"], 3),
    ("majors", "boxroot", &["peer"], 5),
    ("memory", "boxroot", &["peer"], 1),
    ("delete_old", "boxroot", &["peer"], 5),
    ("delete_old_marking", "boxroot", &["peer"], 5),
];

fn main() -> ExitCode {
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-peer: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<()> {
    let mut names = PROGRAMS.map(|p| p.0).to_vec();
    names.sort_unstable();
    names.dedup();
    let only = chosen("ONLY", &names)?;
    let suite = Suite::build(Path::new(env!("CARGO_MANIFEST_DIR")))?;
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    println!("OCaml {}, {os} {arch}, medians\n", suite.ocaml_version);
    println!("| program | figure | ours | other | which two | ratio | spread |");
    println!("|---|---|---|---|---|---|---|");
    for (program, own, others, times) in PROGRAMS.iter().filter(|p| only.contains(&p.0)) {
        let times = number("TIMES", *times as f64)? as usize;
        let sides: Vec<&str> = [own].into_iter().chain(*others).copied().collect();
        let mut runs: Vec<Vec<Figures>> = vec![Vec::new(); sides.len()];
        for _ in 0..times {
            for (implementation, runs) in sides.iter().zip(&mut runs) {
                runs.push(suite.run(program, implementation, &[])?);
            }
        }
        let is_compared = |name: &&String| {
            !COUNTS.contains(&name.as_str())
                && !["peak_resident", "ns_per_operation"].contains(&name.as_str())
        };
        for name in runs[0][0].keys().filter(is_compared) {
            let figures =
                |side: usize| -> Vec<f64> { runs[side].iter().map(|r| r[name]).collect() };
            let ours = figures(0);
            for (side, other_side) in sides.iter().enumerate().skip(1) {
                let other = figures(side);
                let ratios: Vec<f64> = ours.iter().zip(&other).map(|(a, b)| a / b).collect();
                let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
                let high = ratios.iter().copied().fold(0.0, f64::max);
                let (a, b) = (median(ours.clone()), median(other));
                let ratio = if b.abs() < 1e-2 * a.abs() && name == "given_back" {
                    "- | -".to_string() // the other gives nothing back
                } else {
                    format!("{:.3} | {low:.3}–{high:.3}", a / b)
                };
                println!(
                    "| {program} | {name} | {a:.6} | {b:.6} | {own}, {other_side} | {ratio} |"
                );
            }
        }
    }
    Ok(())
}
