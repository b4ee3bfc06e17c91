//! What the tests share.

#![allow(dead_code, unused_imports)] // each test program uses its own part

pub mod exported;
pub mod process;
pub mod raw;
pub mod roots;
#[macro_use]
pub mod runner;
pub mod values;

pub use raw::*;
pub use roots::*;
pub use roots::*;
