//! What OCaml links: the Rust parts of both libraries.

pub use {shapes, sums};
