use ocaml_boxroot_sys::build::{Error, Program};

fn main() -> Result<(), Error> {
    if cfg!(feature = "no-runtime") {
        return Ok(());
    }
    // `answer` uses `words`, which has an interface.
    let program = Program::new()
        .module("ocaml/answer.ml")
        .module_named("words", "ocaml/words_en.ml")
        .library("threads");
    if cfg!(feature = "into-bins") {
        program.link_into("bins")
    } else {
        program.link()
    }
}
