//! For build scripts: compiles OCaml code with a runtime, and links it into a Rust program.
//!
//! ```toml
//! [dependencies]
//! ocaml-boxroot = "0.1"
//!
//! [build-dependencies]
//! ocaml-boxroot-sys = { version = "0.4.1", default-features = false, features = ["build"] }
//! ```
//!
//! ```no_run
//! // build.rs
//! use ocaml_boxroot_sys::build::{Error, Program};
//!
//! fn main() -> Result<(), Error> {
//!     Program::new().module("src/lib.ml").library("threads").link()
//! }
//! ```
//!
//! The program is compiled with the same OCaml that this crate uses ([`OCaml::find`]). Cargo is
//! told which files and variables the build depends on.
//!
//! [`Program::bind`] generates Rust bindings to OCaml modules. [`Bindings`] generates bindings to
//! modules that another build compiled, for example dune's.
//!
//! # Errors from the linker
//!
//! * *Many errors `undefined symbol: caml_...`*, or *`undefined reference`*, in objects whose names
//!   begin with `if_caml_is_undefined_enable_link_runtime_or_use_build_Program_with_OCaml_...`: the
//!   program has no OCaml runtime. Link one with [`Program::link`], or, without OCaml code, enable
//!   the feature `link-runtime` of `ocaml-boxroot`. If there is a runtime, for example because
//!   OCaml has `main`, its version differs from the one in the name: the Rust library was not
//!   compiled for the program's OCaml.
//! * *`duplicate symbol: caml_...`*, or *`multiple definition`*: the program has two runtimes. The
//!   object names in the error show the origins of the runtimes. Often one is from the feature
//!   `link-runtime` of `ocaml-boxroot` (`link-ocaml-runtime-and-dummy-program` of this crate),
//!   which is for programs without OCaml code. A program can have only one runtime: put all modules
//!   into one [`Program`].
//! * *`undefined symbol: boxroot_abi_NAME_...`*: the Rust program and the OCaml program were
//!   compiled with different bindings to an OCaml module, or the Rust program lacks
//!   `ocaml_boxroot::include_bindings!()`.
//! * *`undefined symbol: NAME`*, for a function that OCaml code declares as `external` and a Rust
//!   library defines: rustc does not link a crate whose items are never used. Write
//!   `use that_library as _;` in the program.

mod bindings;
mod c_libraries;
mod error;
mod find_ocaml;
mod generator;
mod packages;
mod program;

pub use bindings::Bindings;
pub use error::Error;
pub use find_ocaml::OCaml;
pub use program::Program;
