use ocaml_boxroot_sys::build::{Error, OCaml, Program};

fn main() -> Result<(), Error> {
    let mut program = Program::new()
        .library("threads")
        .module("ocaml/greetings.ml")
        .module("ocaml/stock.ml")
        .bind("greetings")
        .bind("stock")
        .bind("stdlib__Hashtbl"); // of the standard library
    println!("cargo::rustc-check-cfg=cfg(ocaml5)");
    if !OCaml::find()?.version().starts_with('4') {
        println!("cargo::rustc-cfg=ocaml5");
        program = program.module("ocaml/questions.ml").bind("questions"); // has effects
        program = program.module("ocaml/parallel.ml").bind("parallel"); // has domains
    }
    program.link()
}
