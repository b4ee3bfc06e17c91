use ocaml_boxroot_sys::build::{Error, Program};

fn main() -> Result<(), Error> {
    Program::new()
        .module("ocaml/stock.ml")
        .bind("stock")
        .int_as("*", "i64") // the whole program
        .int_as("stock.item.count", "u32") // a field
        .int_as("stock.count.result", "u8") // a result
        .int_as("stock.count.most", "u16") // an optional argument
        .int_as("stock.missing.1", "u32") // an argument of an exception
        .link()
}
