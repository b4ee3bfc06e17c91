//! Build-script code: compiles the benchmark programs of `benches/`, OCaml and C, for the
//! boxroot whose header is in `include`.

use crate::{find_ocaml, ocaml_object};
use std::{error::Error, fs, path::Path};

const MODULES: [&str; 5] = ["cell.ml", "perm_count.ml", "synthetic.ml", "globroots.ml", "main.ml"];

/// `kind` is the kind of cargo target to link into, such as `benches` or `bins`.
pub fn compile(benches: &Path, include: &Path, kind: &str) -> Result<(), Box<dyn Error>> {
    for variable in find_ocaml::VARIABLES {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    for folder in ["ocaml", "c"] {
        println!("cargo::rerun-if-changed={}", benches.join(folder).display());
    }
    let ocaml = find_ocaml::find()?;
    println!("cargo::rustc-env=OCAML_VERSION={}", ocaml.version);
    let copies = ocaml_object::out_dir()?.join("benches");
    fs::create_dir_all(&copies)?;
    for module in MODULES {
        fs::copy(benches.join("ocaml").join(module), copies.join(module))?;
    }
    let arguments = [&["-inline", "100"][..], &MODULES].concat();
    let object = ocaml_object::compile(&ocaml, &copies, "program", &arguments)?;
    println!("cargo::rustc-link-arg-{kind}={}", object.display());

    let mut c = cc::Build::new();
    for file in ["cells.c", "measure.c"] {
        c.file(benches.join("c").join(file));
    }
    c.include(include).include(&ocaml.where_path).opt_level(2).warnings(false);
    for object in c.try_compile_intermediates()? {
        println!("cargo::rustc-link-arg-{kind}={}", object.display());
    }
    for library in ocaml_object::native_c_libraries(&ocaml)? {
        println!("cargo::rustc-link-arg-{kind}=-l{library}");
    }
    Ok(())
}
