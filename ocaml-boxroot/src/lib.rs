//! Safe owning handles to OCaml values.
//!
//! A [`Boxroot<T>`] owns one OCaml value and keeps it alive, like a `Box`: it can be stored in
//! any data structure, sent to other threads, and is given up by dropping it. Creating, reading
//! and deleting one takes a few instructions, so it replaces both global and local roots.
//!
//! A [`DomainLock`] proves that this thread holds the lock of its OCaml domain. Functions that may
//! run OCaml's garbage collector take it as `&mut`; functions that need the collector not to run
//! take it as `&`. Therefore the borrow checker rejects the use of a value that may have moved:
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
//! // Any thread reads it under the lock, and drops it with or without.
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
//! On OCaml 4, OCaml code that runs below Rust code must not call `Thread.exit`: modules that are
//! initialised by [`Runtime::start`], functions and the closures that they return, finalisers,
//! signal handlers. It would jump over Rust's frames, and ends the process. From OCaml 5 on, it
//! raises an exception like others.
//!
//! # The guide
//!
//! This is the reference. The guide teaches, beginning with first steps. It is a book in Markdown,
//! in the folder `docs/guide` of the repository, and `make book` makes HTML of it. Its pages:
//!
//! | page | about |
//! |---|---|
//! | `first-steps-rust.md` | a first program, with and without OCaml code |
//! | `lock.md`, `threads.md`, `async.md`, `end.md` | the domain lock, threads and domains, `async`, the end |
//! | `promises.md` | what happens when a root is dropped anywhere, a process forks, a signal arrives |
//! | `errors.md` | errors by message |
//! | `which-pointer.md` | [`Value`], [`Boxroot`], [`RootRef`] |
//! | `bindings.md`, `calls.md`, `types.md`, `buffers.md`, `exceptions.md` | calling OCaml and being called, conversions, large data, errors |
//! | `embedding.md` | building a program with OCaml in it, or an OCaml program with Rust in it |
//! | `debugging.md`, `costs.md` | leaks, misuse, deadlocks; what roots cost |
//! | `porting.md` | coming from other libraries |
//!
//! # Builds with checks
//!
//! Builds with the feature `debug-checks`, and debug builds of this crate, check whether a value
//! can have the type that Rust gives it. If it cannot, a conversion returns the error
//! [`Mismatch`](ConversionErrorKind::Mismatch), and a method that reads the value, or calls it,
//! panics. Release builds without the feature do not check. The guide's page `debugging.md` lists
//! the checks.
//!
//! # Features
//!
//! * `link-runtime`: links an OCaml runtime with an empty program. Without this feature, you link
//!   your own OCaml program, or an OCaml program links your crate. The guide's page `embedding.md`
//!   says how.
//! * `ndarray`: [bigarrays](bigarray) as arrays of the crate `ndarray`.
//! * `debug-checks`: every root is on record with the place in the program that created it. Misuse
//!   of raw handles panics and names that place, `leaks` lists the live roots by place, and
//!   [`Runtime::shutdown`] prints them. Values of [wrong types](crate#builds-with-checks) are
//!   errors, as in debug builds. Deadlocks are reported. This feature costs a `malloc` and two
//!   mutexes for each root.

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

/// C's types of values and roots, and the unsafe functions of [`Value`] and [`DomainLock`], as
/// traits. The crate `ocaml-boxroot-sys` has the rest of the C library.
pub mod raw {
    pub use crate::lock::DomainLockExt;
    pub use crate::value::ValueExt;
    pub use ocaml_boxroot_sys::{BoxRoot, Value};
}

/// How deep conversions nest.
pub mod depth {
    pub use crate::types::depth::{set_limit, Level};
}

/// Waiting for Rust's locks and threads, with OCaml's lock released; see
/// [`MutexExt`](sync::MutexExt).
pub mod sync {
    pub use crate::lock::{CondvarExt, JoinHandleExt, MutexExt, OnceLockExt, RwLockExt};
}

/// What OCaml's polymorphic functions do with Rust values.
pub mod custom {
    pub use crate::types::boxed::{Custom, CustomOperations};
}

/// A value's form, the number of live roots, the places that created them, and the places of
/// panics.
pub mod debug {
    pub use crate::call::enter::locate_panics;
    pub use crate::stats::{profile, stats, trim, write_profile, Stats};
    pub use crate::value::Kind;
    #[cfg(feature = "debug-checks")]
    pub use ocaml_boxroot_sys::{leak_report, live_roots_by_site as leaks, Site};
}

/// OCaml's predefined exceptions, as errors.
///
/// A function that OCaml called returns one as its error, or an error that has one among its
/// sources, and OCaml sees that exception. `NotFound::of(lock, &error)` tells whether a call of
/// OCaml ended with it. The text of an error is that of the exception's argument, or else OCaml's
/// name of the exception. [`Exception::is`] knows the rest of OCaml's exceptions, by name.
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

/// The markers of bigarrays, and their parts. Programs write
/// [`OCamlArray2<f64>`](bigarray::OCamlArray2), which is a
/// [`Bigarray<Array2, OCamlFloat, Float64Elt, CLayout>`](bigarray::Bigarray).
///
/// # Examples
///
/// A function for bigarrays of any elements and dimensions, as [bindings](include_bindings!) have
/// them:
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

/// Makes tests of the examples in the READMEs and in the guide.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../README.md")]
mod readme {}

/// The pages of the guide that have whole examples of Rust.
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
