//! Safe owning handles to OCaml values.
//!
//! A [`Boxroot<T>`] owns one OCaml value and keeps it alive, like a `Box`: you can store it in any
//! data structure, send it to other threads, and drop it anywhere. Creating, reading or deleting
//! one takes a few instructions, so it replaces both global and local roots.
//!
//! A [`DomainLock`] proves that this thread holds the lock of its OCaml domain. Functions that may
//! run OCaml's garbage collector take it as `&mut`; functions that rely on the collector not
//! running take it as `&`. Therefore the borrow checker rejects the use of a value that may have
//! moved:
//!
//! ```compile_fail
//! # use ocaml_boxroot::{DomainLock, Error};
//! fn wrong(lock: &mut DomainLock) -> Result<(), Error> {
//!     let (value, _) = lock.alloc_string("not rooted")?;
//!     lock.alloc_string("this may run the collector")?;
//!     println!("{}", value.to_string_lossy());
//!     Ok(())
//! }
//! ```
//!
//! # Example
//!
//! A Rust program that embeds OCaml:
//!
//! ```
//! use ocaml_boxroot::{Boxroot, DomainLock, Runtime};
//!
//! Runtime::start()?;
//! let root = DomainLock::attach(|lock| {
//!     let (value, lock) = lock.alloc_string("from Rust")?;
//!     Boxroot::try_new(lock, value)
//! })?;
//! // Any thread may read it under the lock, and drop it with or without the lock.
//! let reader = std::thread::spawn(move || {
//!     DomainLock::with(|lock| root.get(lock).to_string_lossy())
//! });
//! assert_eq!(reader.join().unwrap()?, "from Rust");
//! # Ok::<(), ocaml_boxroot::Error>(())
//! ```
//!
//! # Threads and domains
//!
//! | operation | needs |
//! |---|---|
//! | create, read, change a root | the lock of any domain |
//! | drop a root | nothing: any thread, at any time, even after shutdown |
//! | allocate, call OCaml | `&mut DomainLock` |
//!
//! On OCaml 4, OCaml code that Rust runs must not call `Thread.exit`: it would jump over Rust's
//! frames, so it ends the process. This concerns modules that [`Runtime::start`] initialises,
//! functions and the closures that they return, finalisers, and signal handlers. Since OCaml 5,
//! `Thread.exit` raises an ordinary exception.
//!
//! # The guide
//!
//! This is the reference. The guide is the tutorial: a Markdown book in the folder `docs/guide` of
//! the repository. `make book` converts it to HTML. Its pages:
//!
//! | page | about |
//! |---|---|
//! | `first-steps-rust.md` | a first program, with and without OCaml code |
//! | `lock.md`, `threads.md`, `async.md`, `end.md` | the domain lock, threads and domains, `async`, shutting down |
//! | `promises.md` | what happens when a root is dropped anywhere, a process forks, a signal arrives |
//! | `errors.md` | the meaning of each error message |
//! | `which-pointer.md` | when to use [`Value`], [`Boxroot`] or [`RootRef`] |
//! | `bindings.md`, `calls.md`, `types.md`, `buffers.md`, `exceptions.md` | calls in both directions, conversions, large data, errors |
//! | `embedding.md` | building a program with OCaml in it, or an OCaml program with Rust in it |
//! | `debugging.md`, `costs.md` | leaks, misuse, deadlocks; what roots cost |
//! | `porting.md` | migrating from other libraries |
//!
//! # Builds with checks
//!
//! Builds with the feature `debug-checks`, and debug builds of this crate, check values against the
//! types that Rust gives them. If a value does not match its type, a conversion returns
//! [`Mismatch`](ConversionErrorKind::Mismatch), and a method that reads or calls the value panics.
//! Release builds without the feature do not check. The guide's page `debugging.md` lists the
//! checks.
//!
//! # Features
//!
//! * `link-runtime`: links an OCaml runtime with an empty program. Without this feature, you link
//!   your own OCaml program, or an OCaml program links your crate. The guide's page `embedding.md`
//!   says how.
//! * `ndarray`: [bigarrays](bigarray) as arrays of the crate `ndarray`.
//! * `debug-checks`: records where in the program each root was created. Misuse of raw handles
//!   panics and names that place, `leaks` lists the live roots by place, and [`Runtime::shutdown`]
//!   prints them. Values that do not match their [types](crate#builds-with-checks) are errors, as
//!   in debug builds. Deadlocks are reported. For each root, this feature calls `malloc` and locks
//!   a mutex twice.

// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod boxroot;
mod cached;
mod call;
pub mod completion;
pub mod domains;
mod error;
mod ffi;
mod lock;
mod named;
pub mod runtime;
mod signals;
mod stats;
mod types;
mod value;
mod weak;

pub use boxroot::{Boxroot, RootRef};
pub use domains::Domains;
pub use error::{
    AttachError, ConversionError, ConversionErrorKind, Error, ShutdownError, StartError,
};
pub use lock::DomainLock;
#[doc(no_inline)]
pub use markers::{
    Function, OCamlAny, OCamlArray, OCamlBytes, OCamlFloat, OCamlInt, OCamlList, OCamlString,
};
#[doc(inline)]
pub use runtime::Runtime;
pub use types::{markers, CallError, Exception, FromOCaml, ToOCaml};
pub(crate) use value::Kind;
pub use value::Value;
pub use weak::WeakRoot;

/// The C types of values and roots, and traits with the unsafe functions of [`Value`] and
/// [`DomainLock`]. The crate `ocaml-boxroot-sys` has the rest of the C library.
pub mod raw {
    pub use crate::lock::DomainLockExt;
    pub use crate::value::ValueExt;
    pub use ocaml_boxroot_sys::{BoxRoot, Value};
}

/// The limit on how deeply conversions nest.
pub mod depth {
    pub use crate::types::depth::{set_limit, Level};
}

/// Waiting for Rust's locks and threads, with OCaml's lock released; see
/// [`MutexExt`](sync::MutexExt).
pub mod sync {
    pub use crate::lock::{CondvarExt, JoinHandleExt, MutexExt, OnceLockExt, RwLockExt};
}

/// How OCaml's polymorphic functions treat Rust values.
pub mod custom {
    pub use crate::types::boxed::{Custom, CustomOperations};
}

/// The kind of a value, statistics and profiles of live roots, and the locations of panics.
pub mod debug {
    pub use crate::call::enter::locate_panics;
    pub use crate::stats::{profile, stats, trim, write_profile, Stats};
    pub use crate::value::Kind;
    #[cfg(feature = "debug-checks")]
    pub use ocaml_boxroot_sys::{leak_report, live_roots_by_site as leaks, Site};
}

/// OCaml's predefined exceptions, as errors.
///
/// If a function that OCaml called returns one of them as its error, or among the error's sources,
/// OCaml sees that exception. `NotFound::of(lock, &error)` tells whether a call of OCaml raised it.
/// The text of an error is the exception's argument; without one, it is OCaml's name for the
/// exception. [`Exception::is`] recognises OCaml's other exceptions by name.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::exceptions::{Failure, NotFound};
/// use ocaml_boxroot::{Function, OCamlInt};
/// use std::error::Error;
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// type Price = Function<(OCamlInt,), OCamlInt>;
/// let price = Price::from_rust(lock, |lock, n| -> Result<i64, Box<dyn Error>> {
///     match n.to_rust(lock)? {
///         1 => Ok(8),
///         2 => Err(NotFound.into()),
///         n => Err(Failure(format!("there is no number {n}")).into()),
///     }
/// })?;
/// let error = price.call_converting::<i64>(lock, 3).unwrap_err();
/// assert_eq!(NotFound::of(lock, &error)?, None);
/// let Some(Failure(text)) = Failure::of(lock, &error)? else { return Err(error.into()) };
/// assert_eq!(text, "there is no number 3");
/// # Ok(()) });
/// ```
pub mod exceptions {
    pub use crate::types::predefined::{
        DivisionByZero, EndOfFile, Failure, InvalidArgument, NotFound, OutOfMemory, StackOverflow,
        SysError,
    };
}

/// The marker types of bigarrays, and their parameters. Programs write
/// [`OCamlArray2<f64>`](bigarray::OCamlArray2), which is a
/// [`Bigarray<Array2, OCamlFloat, Float64Elt, CLayout>`](bigarray::Bigarray).
///
/// # Examples
///
/// A function for bigarrays of any element type and dimension, with the types that
/// [bindings](include_bindings!) use:
///
/// ```
/// use ocaml_boxroot::bigarray::{Bigarray, CLayout};
/// use ocaml_boxroot::debug::Kind;
/// use ocaml_boxroot::Value;
///
/// fn words<D, A, B>(array: Value<Bigarray<D, A, B, CLayout>>) -> usize {
///     let Kind::Block { size, .. } = array.kind() else { unreachable!("a bigarray is a block") };
///     size
/// }
/// ```
pub mod bigarray {
    pub use crate::types::bigarray::{
        Array1, Array2, Array3, Bigarray, BigarrayCell, BigarrayElement, CLayout, Complex32Elt,
        Complex64Elt, Float16Elt, Float32Elt, Float64Elt, FortranLayout, Genarray, Int16SignedElt,
        Int16UnsignedElt, Int32Elt, Int64Elt, Int8SignedElt, Int8UnsignedElt, IntElt, NativeintElt,
        OCamlArray1, OCamlArray2, OCamlArray3, OCamlGenarray,
    };
}

/// Support for the macros.
#[doc(hidden)]
pub mod macro_support;

/// Runs the examples of the READMEs as tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../README.md")]
mod readme {}

/// Runs the complete Rust examples of the guide as tests.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../docs/guide/async.md")]
    mod asynchronous {}
    #[doc = include_str!("../../docs/guide/buffers.md")]
    mod buffers {}
    #[doc = include_str!("../../docs/guide/calls.md")]
    mod calls {}
    #[doc = include_str!("../../docs/guide/debugging.md")]
    mod debugging {}
    #[doc = include_str!("../../docs/guide/embedding.md")]
    mod embedding {}
    #[doc = include_str!("../../docs/guide/end.md")]
    mod end {}
    #[doc = include_str!("../../docs/guide/exceptions.md")]
    mod exceptions {}
    #[doc = include_str!("../../docs/guide/first-steps-rust.md")]
    mod first_steps_rust {}
    #[doc = include_str!("../../docs/guide/lock.md")]
    mod lock {}
    #[doc = include_str!("../../docs/guide/parallel.md")]
    mod parallel {}
    #[doc = include_str!("../../docs/guide/promises.md")]
    mod promises {}
    #[doc = include_str!("../../docs/guide/threads.md")]
    mod threads {}
    #[doc = include_str!("../../docs/guide/types.md")]
    mod types {}
    #[doc = include_str!("../../docs/guide/which-pointer.md")]
    mod which_pointer {}
}

use ocaml_boxroot_sys as sys;
