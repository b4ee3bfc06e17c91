//! Code that the tests share.

#![allow(dead_code, unused_imports, unused_macros)] // each test program uses its own part

#[cfg(target_env = "gnu")]
pub mod coroutine;
pub mod exported;
pub mod mistakes;
pub mod process;
pub mod raw;
pub mod roots;
#[macro_use]
pub mod runner;
pub mod safe;
pub mod values;
