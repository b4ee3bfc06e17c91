//! Calls of OCaml from Rust, and of Rust from OCaml.

pub(crate) mod bound;
mod closure;
pub(crate) mod enter;
mod export;
mod function;
mod mistakes;
pub(crate) mod registered;
mod sequence;
