//! Tests which bindings the build helper generates for OCaml code. OCaml and rustc compile all
//! generated code.
#![cfg(unix)]

mod attributes;
mod first_class_modules;
mod integers;
mod items;
mod mistakes;
mod objects;
mod programs;
mod support;
mod types;
mod unnamed;
