//! Bindings that the build helper makes: what is generated for which OCaml code. OCaml and rustc
//! compile all that is generated.
#![cfg(unix)]

mod attributes;
mod integers;
mod items;
mod mistakes;
mod programs;
mod support;
mod types;
