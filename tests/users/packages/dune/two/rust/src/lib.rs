//! The library that OCaml links: the Rust parts of both libraries.

pub use {shapes, sums};
