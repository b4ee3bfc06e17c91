//! Compiles the OCaml side, `border.ml`, into each of the three programs. Ours has bindings to it.

// Included by path: as a package, it could not be used together with the registry's.
#[allow(dead_code, unused_imports)] // only parts are needed here
#[path = "../../ocaml-boxroot-sys/src/build/mod.rs"]
mod ocaml;

fn main() -> Result<(), ocaml::Error> {
    println!("cargo::rerun-if-changed=../build.rs");
    let program =
        ocaml::Program::new().library("threads").module("../border.ml").module("../noalloc.ml");
    if std::env::var("CARGO_PKG_NAME").is_ok_and(|name| name == "border-ours") {
        program.bind("border").bind("noalloc").link()
    } else {
        program.link()
    }
}
