//! For build scripts: compiles OCaml code, with a runtime, and links it into a Rust program.
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
//! The program is compiled by the same OCaml that this crate uses ([`OCaml::find`]). Cargo is told
//! which files and variables the build depends on.
//!
//! [`Program::bind`] makes Rust bindings to OCaml modules; [`Bindings`] makes them to modules that
//! another build compiled, for example dune's.
//!
//! # What the linker may say
//!
//! * *`undefined symbol: caml_...`*, or *`undefined reference`*, a page of them, in objects whose
//!   names begin with
//!   `if_caml_is_undefined_enable_link_runtime_or_use_build_Program_with_OCaml_...`: the program
//!   has no OCaml runtime. Link one by [`Program::link`], or enable the feature `link-runtime` of
//!   `ocaml-boxroot` if there is no OCaml code. If there is a runtime, for example because OCaml
//!   has `main`, its version is not the one in the name: the Rust library was compiled with another
//!   OCaml than the program.
//! * *`duplicate symbol: caml_...`*, or *`multiple definition`*: the program has two runtimes. The
//!   names of the objects that the linker shows say where they come from; often, one is from the
//!   feature `link-runtime` of `ocaml-boxroot` (`link-ocaml-runtime-and-dummy-program` of this
//!   crate), which is for programs without OCaml code. A program has one runtime: put all modules
//!   into one [`Program`].
//! * *`undefined symbol: boxroot_abi_NAME_...`*: the Rust program was compiled with other bindings
//!   to an OCaml module than the OCaml program, or with none: is there
//!   `ocaml_boxroot::include_bindings!()` in the program?
//! * *`undefined symbol: NAME`*, for a function that OCaml code declares as `external` and a Rust
//!   library defines: rustc leaves out a crate whose items are used nowhere. Write
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
