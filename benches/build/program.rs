//! Build-script code: compiles the benchmark programs of `benches/`, OCaml and C, for the
//! boxroot whose header is in `include`.

use crate::{find_ocaml::OCaml, ocaml_object};
use std::{error::Error, path::Path};

const MODULES: [&str; 5] = ["cell.ml", "perm_count.ml", "synthetic.ml", "globroots.ml", "main.ml"];

/// `kind` is the kind of cargo target to link into, such as `benches` or `bins`.
pub fn link(
    ocaml: &OCaml,
    benches: &Path,
    include: &Path,
    kind: &str,
) -> Result<(), Box<dyn Error>> {
    println!("cargo::rustc-env=OCAML_VERSION={}", ocaml.version);
    let folder = ocaml_object::out_dir()?.join("benches");
    let sources = MODULES.map(|module| (benches.join("ocaml").join(module), module));
    ocaml_object::link_into(kind, ocaml, &folder, &["-inline", "100"], &sources)?;

    println!("cargo::rerun-if-changed={}", benches.join("c").display());
    let mut c = cc::Build::new();
    for file in ["cells.c", "measure.c"] {
        c.file(benches.join("c").join(file));
    }
    c.include(include).include(&ocaml.where_path).opt_level(2).warnings(false);
    for object in c.try_compile_intermediates()? {
        println!("cargo::rustc-link-arg-{kind}={}", object.display());
    }
    Ok(())
}
