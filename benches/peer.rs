//! Compares ours with the registry crate `ocaml-boxroot-sys` 0.4.0, side by side.
//!
//! ```text
//! make bench-peer OCAML=5.3.0                     # all programs, a table on standard output
//! make bench-peer OCAML=5.3.0 ONLY="pair batch"   # some of them
//! ```
//!
//! Each figure comes from processes that alternate, ours, peer, ours, peer, …; the table gives
//! medians, their ratio, and the spread (the smallest and largest ratio of neighbours).

use ocaml_boxroot_sys as _;
use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::c_char;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

extern "C" {
    fn caml_main(argv: *const *const c_char);
}

/// A program, its implementations other than `boxroot` on both sides, and how often it runs.
const PROGRAMS: [(&str, &[&str], usize); 8] = [
    ("perm_count", &["gc", "ocaml_ref"], 5),
    ("synthetic", &["gc", "ocaml_ref"], 5),
    ("globroots", &["gc", "ocaml_ref"], 5),
    ("pair", &[], 7),
    ("batch", &[], 7),
    ("pause", &[], 3),
    ("memory", &[], 1),
    ("delete_old_marking", &[], 5),
];

fn main() -> ExitCode {
    if std::env::var_os("BENCH").is_some() {
        let arguments = [c"bench".as_ptr(), std::ptr::null()];
        // SAFETY: the only start of the runtime in this process.
        unsafe { caml_main(arguments.as_ptr()) }
        return ExitCode::SUCCESS;
    }
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
    let ours = std::env::current_exe()?;
    let peer = build_peer()?;
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
        let sides: Vec<(&str, &Path, &str)> =
            [("ours", ours.as_path(), "boxroot"), ("peer 0.4.0", &peer, "boxroot")]
                .into_iter()
                .chain(others.iter().map(|&other| (other, ours.as_path(), other)))
                .collect();
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
                println!("| {program} | {name} | {a:.6} | {b:.6} | {which} | {:.3} | {low:.3}–{high:.3} |", a / b);
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

fn build_peer() -> Result<PathBuf, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peer");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/peer");
    let status = Command::new(std::env::var("CARGO").unwrap_or("cargo".into()))
        .args(["build", "--release", "--quiet", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status()?;
    if !status.success() {
        return Err("the peer's executable could not be built".into());
    }
    Ok(target.join("release/boxroot-peer"))
}
