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

/// A program, its implementations other than `boxroot` on both sides, and how often it runs.
const PROGRAMS: [(&str, &[&str], usize); 10] = [
    ("perm_count", &["gc", "ocaml_ref"], 5),
    ("synthetic", &["gc", "ocaml_ref"], 5),
    ("globroots", &["gc", "ocaml_ref"], 9),
    ("pair", &[], 9),
    ("batch", &[], 9),
    ("pause", &[], 3),
    ("majors", &[], 5),
    ("memory", &[], 1),
    ("delete_old", &[], 5),
    ("delete_old_marking", &[], 5),
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
    let names = PROGRAMS.map(|p| p.0);
    let only = chosen("ONLY", &names)?;
    let suite = Suite::build(Path::new(env!("CARGO_MANIFEST_DIR")))?;
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    println!("OCaml {}, {os} {arch}, medians\n", suite.ocaml_version);
    println!("| program | figure | ours | other | which | ratio | spread |");
    println!("|---|---|---|---|---|---|---|");
    for (program, others, times) in PROGRAMS.iter().filter(|p| only.contains(&p.0)) {
        let times = number("TIMES", *times as f64)? as usize;
        let mut sides = vec![("ours", "boxroot"), ("peer 0.4.0", "peer")];
        sides.extend(others.iter().map(|&other| (other, other)));
        let mut runs: Vec<Vec<Figures>> = vec![Vec::new(); sides.len()];
        for _ in 0..times {
            for ((_, implementation), runs) in sides.iter().zip(&mut runs) {
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
            let own = figures(0);
            for (side, (which, _)) in sides.iter().enumerate().skip(1) {
                let other = figures(side);
                let ratios: Vec<f64> = own.iter().zip(&other).map(|(a, b)| a / b).collect();
                let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
                let high = ratios.iter().copied().fold(0.0, f64::max);
                let (a, b) = (median(own.clone()), median(other));
                let ratio = if b.abs() < 1e-2 * a.abs() && name == "given_back" {
                    "- | -".to_string() // the other gives nothing back
                } else {
                    format!("{:.3} | {low:.3}–{high:.3}", a / b)
                };
                println!("| {program} | {name} | {a:.6} | {b:.6} | {which} | {ratio} |");
            }
        }
    }
    Ok(())
}
