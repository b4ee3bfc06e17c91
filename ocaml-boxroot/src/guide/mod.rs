#![doc = include_str!("../guide.md")]
//!
//! # Side by side
//!
//! The same small program with this crate, with `ocaml-interop` 0.12 and with `ocaml` 1.3 (ocaml-rs); the tests
//! of this project run all three. They call this OCaml, and `stress : unit -> unit`, which makes the collector run:
//!
//! ```ocaml,ignore
#![doc = include_str!("words.ml")]
//! ```
//!
//! With `ocaml-boxroot`: an exception is an error; any thread may call it.
//!
//! ```ignore
#![doc = include_str!("ours.rs")]
//! ```
//!
//! With `ocaml-interop`: an exception is a panic; any thread that is not in such a closure may call it.
//!
//! ```ignore
#![doc = include_str!("ocaml_interop.rs")]
//! ```
//!
//! With `ocaml`: an exception is an error; every call is unsafe, and conversions believe the caller.
//!
//! ```ignore
#![doc = include_str!("ocaml_rs.rs")]
//! ```

#[doc = include_str!("which_root.md")]
pub mod which_root {}

#[doc = include_str!("debugging.md")]
pub mod debugging {}

#[doc = include_str!("migrating.md")]
pub mod migrating {}

/// How the allocator works, in three pictures. The whole design is in `DESIGN.md` of the C library.
///
/// # A root is a slot in a pool
///
/// The allocator, not the user, chooses where a root is in memory: in a *slot*, one word of a *pool*. A handle is the
/// address of its slot, so reading a root is one load.
///
#[doc = include_str!("pictures/pool.svg")]
///
/// Free slots hold *links*, which form a free list. A link is odd, as OCaml's integers are; so whatever a slot holds looks like a value to
/// the collector, and it can go through the slots without asking which are in use. Create takes the first free slot, delete
/// puts it back: a few instructions each. A delete by another domain, or by a thread without the lock, does not touch the
/// slot: it sets a bit in the head of the pool, and the owner frees the slot later.
///
/// # Young and old pools
///
/// A minor collection looks only at roots that may refer to the minor heap. These are in *young* pools; where they are few,
/// they are in a list of slots. When it is over, no root refers to the minor heap any more, so all pools become old at once.
///
#[doc = include_str!("pictures/pool_life.svg")]
///
/// A domain that makes no root between two minor collections has nothing to scan in them, however many roots it has.
///
/// # Marking without a pause
///
/// A major collection has to mark the values of all roots. OCaml 4 does so at once when it starts. On OCaml 5 the allocator
/// hands each pool to the collector as if it were a block of the heap, which the collector visits in its slices.
///
#[doc = include_str!("pictures/marking.svg")]
///
/// While the collector has still to visit a pool, its slots stay as they are: a root that is deleted keeps its slot until all is marked.
pub mod allocator {}
