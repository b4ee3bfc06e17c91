//! Calls of OCaml from Rust, and of Rust from OCaml.

mod closure;
pub(crate) mod enter;
mod export;
pub(crate) mod function;
