//! Builds the C library of `vendor/` against the installed OCaml.
//!
//! 1. Decide whether Rust inlines the fast paths or calls C.
//! 2. Without the feature `bundle-boxroot`, stop: the crate and its documentation need no OCaml.
//!    The rest is in `library.rs`, which is not compiled for build scripts that depend on this
//!    crate. On Windows, stop with an error.
//! 3. Find OCaml (`../src/build/find_ocaml.rs`). If there is none, and `DOCS_RS` is set, stop
//!    without an error.
//! 4. Compile `vendor/boxroot.c`. It is optimised even in debug builds, because this crate exists
//!    for its fast paths. With `debug-checks`, compile the library's checked flavour. Decide
//!    whether Rust reads its thread-local variables.
//! 5. Tell dependants, through `links` metadata, where the C headers are
//!    (`DEP_OCAML_BOXROOT_INCLUDE`), where OCaml is (`_OCAML_WHERE`, `_OCAML_VERSION`), and the
//!    prefix of the names of C objects (`_OBJECT_PREFIX`).
//! 6. With `link-ocaml-runtime-and-dummy-program`: link a runtime with an empty program
//!    (`../src/build/program.rs`), and tell dependants (`_RUNTIME`).

#[cfg(feature = "bundle-boxroot")]
mod library;

use std::{env, error::Error, fs, path::PathBuf, process::ExitCode};

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nocaml-boxroot-sys: {error}\n");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=src/build");
    println!("cargo::rustc-check-cfg=cfg(ocaml5)");
    println!("cargo::rustc-check-cfg=cfg(inlined)");
    println!("cargo::rustc-check-cfg=cfg(inlined_thread_locals)");
    let inlined = is_inlined();
    if inlined {
        println!("cargo::rustc-cfg=inlined");
    }
    #[cfg(feature = "bundle-boxroot")]
    let layout = library::build(inlined)?;
    #[cfg(not(feature = "bundle-boxroot"))]
    let layout = Layout::default();
    layout.write()
}

/// Constants of OCaml's headers that Rust code relies on. All are 0 without OCaml.
#[derive(Default)]
struct Layout {
    /// The offset of the current stack in `Caml_state` (OCaml 5).
    current_stack: usize,
    /// The number of highest bits of a header that do not belong to the size.
    reserved_bits: u32,
}

impl Layout {
    /// For `include!` in the crate.
    fn write(&self) -> Result<(), Box<dyn Error>> {
        let constants = format!(
            "/// The offset of the current stack in `Caml_state` (OCaml 5).\n\
             pub const CURRENT_STACK: usize = {};\n\
             /// The number of highest bits of a header that do not belong to the size.\n\
             pub const RESERVED_BITS: u32 = {};\n",
            self.current_stack, self.reserved_bits
        );
        Ok(fs::write(PathBuf::from(env::var("OUT_DIR")?).join("layout.rs"), constants)?)
    }
}

/// Whether `../src/fast.rs` is compiled. Inlined paths are compiled in the crates that use them.
/// Without optimisation they take several times as long as a call of C, which is optimised in every
/// profile. A build script does not know how the crates that use this one are compiled: it only
/// knows this crate's settings and the base profile. Profiles like `dev` often only optimise
/// dependencies. Therefore all profiles that inherit from `dev` call C, which costs little even if
/// inlining would have been better.
fn is_inlined() -> bool {
    let feature = |name: &str| env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // This project's own tests test the inlined paths in every profile.
    !feature("DEBUG_CHECKS")
        && (feature("FAULT_INJECTION") || !is("OPT_LEVEL", "0") && !is("PROFILE", "debug"))
}
