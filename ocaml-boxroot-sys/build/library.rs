//! Finds OCaml, compiles the C library, and links it.

#[cfg(feature = "link-ocaml-runtime-and-dummy-program")]
#[allow(dead_code, unused_imports)] // some functions are only for other build scripts
#[path = "../src/build/mod.rs"]
mod ocaml;

/// Compiles only the part that is needed without a runtime, so that builds of this crate take less
/// time.
#[cfg(not(feature = "link-ocaml-runtime-and-dummy-program"))]
#[allow(dead_code)]
#[path = "../src/build"]
mod ocaml {
    mod error;
    mod find_ocaml;
    pub use error::Error;
    pub use find_ocaml::OCaml;
}

use super::Layout;
use ocaml::OCaml;
use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

const HELP: &str = "\
This crate compiles a C library against the headers of OCaml 4.13 or later. To install OCaml:
  - Debian, Ubuntu:  apt-get install ocaml-nox
  - macOS:           brew install ocaml
  - anywhere:        https://opam.ocaml.org, then `opam init` and `eval $(opam env)`
If OCaml is installed but not on PATH, set OCAMLOPT to its ocamlopt, or OCAML_WHERE_PATH to the
folder that `ocamlopt -where` prints. To build the documentation only, set DOCS_RS=1.";

const NO_WINDOWS: &str = "\
The Rust crates are not supported on Windows. The C library (boxroot-c) is, with mingw-w64 and OCaml 5.";

/// Compiles and links the library. Returns the constants of OCaml's headers.
pub fn build(inlined: bool) -> Result<Layout, Box<dyn Error>> {
    let feature = |name: &str| env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
    println!("cargo:rerun-if-env-changed=DOCS_RS");
    if env::var_os("CARGO_CFG_WINDOWS").is_some() && env::var_os("DOCS_RS").is_none() {
        return Err(NO_WINDOWS.into());
    }
    let ocaml = match OCaml::find() {
        Ok(ocaml) => ocaml,
        Err(_) if env::var_os("DOCS_RS").is_some() => return Ok(Layout::default()),
        Err(error) => return Err(format!("{error}\n\n{HELP}").into()),
    };
    let vendor = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("vendor");
    let include = vendor.join("include");

    let mut compiler = cc::Build::new();
    compiler.include(&include).include(ocaml.where_path()).opt_level(2);
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "debug") && compiler.try_get_compiler()?.is_like_gnu() {
        // Inlines only functions that are declared inline. (For clang, this flag means something
        // else.)
        compiler.flag("-fno-inline-functions");
    }
    if feature("DEBUG_CHECKS") {
        compiler.define("BOXROOT_CHECKED", "1");
    }
    if feature("FAULT_INJECTION") {
        compiler.define("BXR_FAULT_INJECTION", None);
        // This project's benchmarks are release builds, which have no assertions.
        if is("PROFILE", "debug") {
            compiler.define("BXR_DEBUG", None);
        }
    }
    let constants = Constants::read(&compiler)?;
    let prefix = object_prefix(ocaml.version());
    let source = vendor.join("boxroot.c");
    let copy = PathBuf::from(env::var("OUT_DIR")?).join(format!("{prefix}boxroot.c"));
    fs::write(&copy, format!("#include \"{}\"\n", source.display()))?;
    compiler.file(copy);
    compiler.try_compile("boxroot").map_err(|error| format!("the C library: {error}"))?;

    for changed in [&source, &vendor.join("src"), &include] {
        println!("cargo:rerun-if-changed={}", changed.display());
    }
    let include = if feature("DEBUG_CHECKS") { checked_headers(&include)? } else { include };
    println!("cargo:include={}", include.display());
    println!("cargo:ocaml_where={}", ocaml.where_path().display());
    println!("cargo:ocaml_version={}", ocaml.version());
    println!("cargo:object_prefix={prefix}");
    if !ocaml.version().starts_with('4') {
        println!("cargo::rustc-cfg=ocaml5");
    }
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if inlined
        && target("OS") == "linux"
        && ["x86_64", "aarch64"].contains(&&*target("ARCH"))
        && !constants.is_tls_dynamic
    {
        println!("cargo::rustc-cfg=inlined_thread_locals");
    }
    #[cfg(feature = "link-ocaml-runtime-and-dummy-program")]
    {
        // If there is another runtime, this name appears in the linker's messages.
        let name = "ocaml_runtime_of_the_feature_link_runtime";
        ocaml::Program::new().library("threads").link_if_needed(&ocaml, name)?;
        println!("cargo:runtime=1");
    }
    Ok(constants.layout())
}

/// C preprocessor constants that Rust's fast paths rely on.
struct Constants {
    /// Whether `CFLAGS` defines `BXR_DYNAMIC_TLS`. Then the library's thread-local variables do not
    /// use the initial-exec model (`boxroot/lock.h`), which `../src/fast.rs` needs.
    is_tls_dynamic: bool,
    /// The fields of `Caml_state` in order, each of 8 bytes.
    state: Vec<String>,
    /// The number of highest bits of a header that do not belong to the size.
    reserved_bits: u32,
}

impl Constants {
    const SOURCE: &str = "\
#define CAML_NAME_SPACE
#include <caml/mlvalues.h>
#ifdef BXR_DYNAMIC_TLS
boxroot_dynamic
#endif
boxroot_reserved HEADER_RESERVED_BITS
boxroot_reserved PROFINFO_WIDTH
#undef DOMAIN_STATE
#define DOMAIN_STATE(type, name) boxroot_state name
#include <caml/domain_state.tbl>
";

    fn read(compiler: &cc::Build) -> Result<Constants, Box<dyn Error>> {
        let file = PathBuf::from(env::var("OUT_DIR")?).join("layout.c");
        fs::write(&file, Constants::SOURCE)?;
        let expanded = compiler.clone().file(file).try_expand();
        let expanded = expanded.map_err(|error| format!("the C preprocessor: {error}"))?;
        let text = String::from_utf8_lossy(&expanded);
        let facts: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        let named = |name| facts.iter().filter(move |fact| fact.first() == Some(&name));
        Ok(Constants {
            is_tls_dynamic: named("boxroot_dynamic").next().is_some(),
            state: named("boxroot_state").map(|fact| fact[1].to_string()).collect(),
            reserved_bits: named("boxroot_reserved")
                .filter_map(|fact| fact[1].parse::<u32>().ok())
                .sum(),
        })
    }

    fn layout(&self) -> Layout {
        let field = |name| 8 * self.state.iter().position(|field| field == name).unwrap_or(0);
        Layout { current_stack: field("current_stack"), reserved_bits: self.reserved_bits }
    }
}

/// The prefix of the names of C objects. In a program without an OCaml runtime, or with one of
/// another version, the linker reports every symbol of the runtime as undefined, with the name of
/// an object that needs it. Users see these names first, so the names say what to do.
fn object_prefix(version: &str) -> String {
    let version = version.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    format!("if_caml_is_undefined_enable_link_runtime_or_use_build_Program_with_OCaml_{version}__")
}

/// A copy of the headers, with a `config.h` for the checked flavour.
fn checked_headers(include: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let copy = PathBuf::from(env::var("OUT_DIR")?).join("include");
    for folder in ["", "boxroot"] {
        fs::create_dir_all(copy.join(folder))?;
        for entry in fs::read_dir(include.join(folder))? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                fs::copy(entry.path(), copy.join(folder).join(entry.file_name()))?;
            }
        }
    }
    let config = fs::read_to_string(include.join("boxroot/config.h"))?;
    fs::write(
        copy.join("boxroot/config.h"),
        config.replace("BOXROOT_CHECKED 0", "BOXROOT_CHECKED 1"),
    )?;
    Ok(copy)
}
