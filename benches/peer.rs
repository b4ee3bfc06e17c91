//! Compares ours with the registry crate `ocaml-boxroot-sys` 0.4.0, side by side.
//!
//! ```text
//! make bench-peer OCAML=5.3.0                     # all programs, a table on standard output
//! make bench-peer OCAML=5.3.0 ONLY="pair batch"   # some of them
//! ```
//!
//! Each figure comes from processes that alternate, ours, peer, ours, peer, …; the table gives
//! medians, their ratio, and the spread (the smallest and largest ratio of neighbours).

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

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

type Figures = BTreeMap<String, f64>;

fn compare() -> Result<(), Box<dyn Error>> {
    let ours = build("ours")?;
    let peer = build("peer")?;
    let only = std::env::var("ONLY").unwrap_or_default();
    let only: Vec<&str> = only.split_whitespace().collect();
    if let Some(unknown) = only.iter().find(|name| PROGRAMS.iter().all(|p| p.0 != **name)) {
        let names: Vec<&str> = PROGRAMS.iter().map(|p| p.0).collect();
        return Err(format!("ONLY={unknown}: choose among {}", names.join(" ")).into());
    }
    println!(
        "OCaml {}, {} {}, medians\n",
        env!("OCAML_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    println!("| program | figure | ours | other | which | ratio | spread |");
    println!("|---|---|---|---|---|---|---|");
    for (program, others, times) in PROGRAMS {
        if !only.is_empty() && !only.contains(&program) {
            continue;
        }
        let times = std::env::var("TIMES").ok().and_then(|t| t.parse().ok()).unwrap_or(times);
        let mut sides: Vec<(&str, &Path, &str)> =
            vec![("ours", &ours, "boxroot"), ("peer 0.4.0", &peer, "boxroot")];
        sides.extend(others.iter().map(|&other| (other, ours.as_path(), other)));
        let mut runs: Vec<Vec<Figures>> = vec![Vec::new(); sides.len()];
        for _ in 0..times {
            for ((_, executable, implementation), runs) in sides.iter().zip(&mut runs) {
                runs.push(run(executable, program, implementation)?);
            }
        }
        for name in runs[0][0].keys().filter(|name| !name.ends_with("_collections")) {
            let figures =
                |side: usize| -> Vec<f64> { runs[side].iter().map(|r| r[name]).collect() };
            let own = figures(0);
            for (side, (which, ..)) in sides.iter().enumerate().skip(1) {
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

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn run(executable: &Path, program: &str, implementation: &str) -> Result<Figures, Box<dyn Error>> {
    let output =
        Command::new(executable).env("BENCH", program).env("IMPL", implementation).output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{program} of {implementation}: {}: {message}", output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let parse = |line: &str| -> Option<(String, f64)> {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_string(), value.trim().parse().ok()?))
    };
    Ok(text.lines().filter_map(parse).collect())
}

/// The executable with the programs, on our crate or on the peer's. They are alike but for that
/// crate, because the layout of an executable alone can make some percents.
fn build(side: &str) -> Result<PathBuf, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = root.join("target/programs").join(side);
    let status = Command::new(std::env::var("CARGO").unwrap_or("cargo".into()))
        .args(["build", "--release", "--quiet", "--manifest-path"])
        .arg(root.join("benches/programs").join(side).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status()?;
    if !status.success() {
        return Err(format!("the programs could not be built on {side}").into());
    }
    Ok(target.join("release/boxroot-programs"))
}
