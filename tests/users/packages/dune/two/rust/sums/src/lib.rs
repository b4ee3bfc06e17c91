#![forbid(unsafe_code)]

use ocaml_boxroot::DomainLock;
use std::error::Error;

ocaml_boxroot::include_bindings!(sums: Sums);

struct Sums;

impl sums::Externals for Sums {
    fn sum(_: &mut DomainLock, numbers: Vec<isize>) -> Result<isize, Box<dyn Error>> {
        Ok(numbers.iter().sum())
    }
}
