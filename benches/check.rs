//! Checks the benchmark programs: every implementation of a cell passes the same test, every
//! program runs on every implementation that it supports, and unknown names are errors that list
//! the valid ones.
//!
//! ```text
//! make bench-check OCAML=5.3.0
//! ```

mod harness;

use harness::{filter, Result, Suite, LAYOUTS};
use std::path::Path;

/// Settings that make all programs run briefly.
const SETTINGS: [(&str, &str); 3] = [("N", "5"), ("SIZE", "20000"), ("CHOICE", "ephemeral")];

fn main() -> Result<()> {
    let suite = Suite::build(Path::new(env!("CARGO_MANIFEST_DIR")), LAYOUTS[0])?;
    let settings = SETTINGS.map(|(name, value)| (name, value.to_string()));
    for program in suite.programs() {
        let name = &program.name;
        let implementations = suite.implementations(name);
        let mut creates = Vec::new();
        for implementation in &implementations {
            let figures = suite.run(name, implementation, &settings)?;
            creates.extend(figures.get("creates").copied());
            if let Some(missing) = program.about.as_ref().filter(|f| !figures.contains_key(*f)) {
                return Err(format!("{name} of {implementation} does not print {missing}").into());
            }
        }
        if !program.creates_vary && creates.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(format!("{name}: creates differ: {creates:?}").into());
        }
        println!("{name}: {}", implementations.join(" "));
    }
    refused(&suite, "perm_count", "no_such", "choose one of ocaml ocaml_ref")?;
    refused(&suite, "no_such", "boxroot", "choose one of list attach")?;
    let chosen = filter::choose(&suite, Some("perm_count/peer,boxroot"))?;
    assert!(matches!(&chosen[..], [one] if one.implementations == ["peer", "boxroot"]));
    for (unknown, message) in [("perm", "choose one of batch"), ("get/p", "choose one of global")] {
        let error = filter::choose(&suite, Some(unknown)).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains(message)), "{unknown}");
    }
    if suite.ocaml_version.starts_with('4') {
        refused(&suite, "prodcons", "boxroot", "needs OCaml 5")?;
    }
    Ok(())
}

fn refused(suite: &Suite, program: &str, implementation: &str, message: &str) -> Result<()> {
    match suite.run_in_variants(program, implementation, &[]) {
        Err(error) if error.to_string().contains(message) => Ok(()),
        other => Err(format!("{program} of {implementation} should be refused: {other:?}").into()),
    }
}
