#![forbid(unsafe_code)]

use ocaml_boxroot::DomainLock;
use std::error::Error;

ocaml_boxroot::include_bindings!(shapes: Shapes);

struct Shapes;

impl shapes::Externals for Shapes {
    fn area(_: &mut DomainLock, shape: shapes::Shape) -> Result<f64, Box<dyn Error>> {
        Ok(match shape {
            shapes::Shape::Circle { radius } => radius * radius * std::f64::consts::PI,
            shapes::Shape::Square { side } => side * side,
        })
    }
}
