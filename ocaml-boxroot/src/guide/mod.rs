#![doc = include_str!("../guide.md")]
//!
//! # Side by side
//!
//! The same small program with this crate, with `ocaml-interop` 0.12 and with `ocaml` 1.3 (ocaml-rs); the tests
//! of this project run all three. They call this OCaml code, and `stress : unit -> unit`, which makes the collector run:
//!
//! ```ocaml,ignore
#![doc = include_str!("words.ml")]
//! ```
//!
//! With `ocaml-boxroot`: an OCaml exception becomes an error. Any Rust thread may call the function.
//!
//! ```ignore
#![doc = include_str!("ours.rs")]
//! ```
//!
//! With `ocaml-interop`: an OCaml exception becomes a panic. Any thread may call the function, unless it is in a
//! `with_domain_lock` already.
//!
//! ```ignore
#![doc = include_str!("ocaml_interop.rs")]
//! ```
//!
//! With `ocaml`: an OCaml exception becomes an error. Every call is unsafe, and conversions do not check the value's type.
//!
//! ```ignore
#![doc = include_str!("ocaml_rs.rs")]
//! ```

#[doc = include_str!("bindings.md")]
///
/// # A whole program
///
/// `Cargo.toml`:
///
/// ```toml
/// [dependencies]
/// ocaml-boxroot = { version = "0.1", features = ["startup"] }
///
/// [build-dependencies]
/// ocaml-boxroot-sys = { version = "0.4.1", default-features = false, features = ["build"] }
/// ```
///
/// `ocaml/orders.ml`:
///
/// ```ocaml,ignore
#[doc = include_str!("orders/orders.ml")]
/// ```
///
/// `build.rs`:
///
/// ```ignore
#[doc = include_str!("orders/build.rs")]
/// ```
///
/// `src/main.rs`:
///
/// ```ignore
#[doc = include_str!("orders/main.rs")]
/// ```
pub mod bindings {}

#[doc = include_str!("which_root.md")]
pub mod which_root {}

#[doc = include_str!("costs.md")]
pub mod costs {}

#[doc = include_str!("debugging.md")]
pub mod debugging {}

#[doc = include_str!("migrating.md")]
pub mod migrating {}

/// How the allocator works, in three pictures. The whole design is in `DESIGN.md` of the C library.
///
/// # A root is a slot in a pool
///
/// The allocator, not the user, chooses where a root is in memory: in a *slot*, which is one word of a *pool*. A handle is
/// the address of its slot, so reading a root is one load. Each pool has one domain as its *owner*.
///
#[doc = include_str!("pictures/pool.svg")]
///
/// Free slots hold *links*, which form a free list. A link is an odd number, as OCaml's integers are. So the collector can
/// go through all slots, without asking which are in use, because links look like values to it. Creating a root takes the
/// first free slot, and deleting it puts the slot back: a few instructions each. A delete by another domain, or by a thread
/// without the lock, does not touch the slot: it sets a bit in the head of the pool, and the owner frees the slot later.
///
/// # Young and old pools
///
/// A minor collection looks only at roots that may refer to the minor heap. These are in *young* pools or, if they are few,
/// in an old pool and in a list of slots. After the collection no root refers to the minor heap, so all pools become old
/// at once.
///
#[doc = include_str!("pictures/pool_life.svg")]
///
/// If a domain makes no root between two minor collections, the second one has none of its roots to scan, however many
/// there are.
///
/// # Marking without a pause
///
/// A major collection has to mark the values of all roots. On OCaml 5 the allocator hands each pool to the collector as if
/// the pool were a block of the heap. The collector visits the pools in its slices. (On OCaml 4.14 it
/// visits copies of many roots, which are made when the collection starts.)
///
#[doc = include_str!("pictures/marking.svg")]
///
/// As long as the collector may still have to visit a pool itself, slots with values of the major heap do not change: a root that
/// is deleted meanwhile keeps its slot until the collector has marked everything.
pub mod allocator {}
