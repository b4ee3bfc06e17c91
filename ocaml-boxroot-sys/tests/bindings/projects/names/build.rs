use ocaml_boxroot_sys::build::{Error, Program};

fn main() -> Result<(), Error> {
    Program::new()
        .module("ocaml/money.ml")
        .bind("money")
        .rename("money.+", "add") // an operator
        .rename("money.add'", "add_all") // it would be `add_prime`
        .rename("money.t", "Cents") // a type: OCamlCents, Cents
        .link()
}
