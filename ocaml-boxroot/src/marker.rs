//! Names of OCaml types, for `Value<'l, T>` and `Boxroot<T>`. No value of them exists in Rust.
//!
//! Two rules keep them honest:
//!
//! * *Threads.* A root goes to other threads if its marker is `Send` and `Sync`; a marker with
//!   parameters is both where its parameters are.
//! * *Variance.* A parameter with a lifetime in it may be shortened where OCaml only gives values of that type
//!   (covariant: lists, options, results of functions), lengthened where OCaml only takes them
//!   (contravariant: arguments of functions), and neither where OCaml does both (invariant: arrays and
//!   references, which change).

use std::fmt;
use std::marker::PhantomData;

/// Nothing.
#[derive(Clone, Copy)]
pub(crate) enum Uninhabited {}

/// Makes whatever contains it invariant in `T`.
pub(crate) type Invariant<T> = PhantomData<fn(T) -> T>;

macro_rules! simple {
    ($($(#[$attribute:meta])* $name:ident;)*) => {$(
        $(#[$attribute])*
        #[derive(Debug)]
        pub enum $name {}
    )*};
}

simple! {
    /// The type of OCaml's `int`, for `Value<OCamlInt>` and `Boxroot<OCamlInt>`.
    OCamlInt;
    /// The type of OCaml's `int32`.
    OCamlInt32;
    /// The type of OCaml's `int64`.
    OCamlInt64;
    /// The type of OCaml's `nativeint`.
    OCamlNativeint;
    /// The type of OCaml's `char`: a byte.
    OCamlChar;
    /// The type of OCaml's `float`.
    OCamlFloat;
    /// The type of OCaml's `string`.
    OCamlString;
    /// The type of OCaml's `bytes`.
    OCamlBytes;
    /// The type of OCaml's `exn`.
    OCamlException;
}

/// An OCaml type that is not known any more. Its roots stay on their thread, because the type may be one whose
/// values must not leave it.
pub struct OCamlAny(PhantomData<*const ()>, Uninhabited);

/// The type of OCaml's `T list`. Covariant.
pub struct OCamlList<T>(PhantomData<T>, Uninhabited);

/// The type of OCaml's `T array`; of floats, too. Invariant: arrays change.
///
/// ```compile_fail
/// # use ocaml_boxroot::{Boxroot, OCamlArray};
/// # struct Name<'a>(&'a ());
/// fn shorten<'a>(array: Boxroot<OCamlArray<Name<'static>>>) -> Boxroot<OCamlArray<Name<'a>>> {
///     array
/// }
/// ```
pub struct OCamlArray<T>(PhantomData<T>, Invariant<T>, Uninhabited);

/// The type of an OCaml function from `Args` (a tuple) to `R`, as in
/// `Boxroot<Function<(OCamlString,), OCamlInt>>`; `()` stands for a function of OCaml's `()`.
/// Contravariant in `Args`, covariant in `R`.
///
/// # Rust functions
///
/// `Function::<Args, R>::from_rust` makes an OCaml function of a Rust function. OCaml owns it, and drops it when it is
/// garbage, on any thread, as an [`OCamlBox`](crate::OCamlBox); and calls it on any, several at once, also while it
/// runs. It gets the token and roots of the arguments, and returns a root or whatever is
/// [`ToOCaml`](crate::ToOCaml) the result's type, or an error, which OCaml sees as in [`export!`](crate::export!).
///
/// ```
/// use ocaml_boxroot::{Boxroot, Error, Function, OCamlInt, OCamlString, Value};
///
/// # let _ocaml = ocaml_boxroot::Runtime::start()?;
/// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
/// let names = vec!["zero", "one", "two"];
/// let name = Function::<(OCamlInt,), OCamlString>::from_rust(lock, move |lock, n| {
///     let n: usize = n.to_rust(lock)?;
///     Ok::<_, Error>(names.get(n).unwrap_or(&"many").to_string())
/// })?;
/// // Now OCaml can have it; or Rust calls it, as OCaml would.
/// let two = Boxroot::new(lock, Value::int(2));
/// assert_eq!(name.call(lock, &two)?.0.to_text(), "two");
/// # Ok(()) })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Function<Args, R: ?Sized>(
    PhantomData<fn(Args)>,
    PhantomData<*const R>, // neither `Send` nor `Sync`: see below
    Uninhabited,
);

// SAFETY: a name for a type; a closure may be called from any domain and any thread, which gets at
// what the closure takes and returns.
unsafe impl<Args: Send + Sync, R: ?Sized + Send + Sync> Send for Function<Args, R> {}
// SAFETY: as above.
unsafe impl<Args: Send + Sync, R: ?Sized + Send + Sync> Sync for Function<Args, R> {}

macro_rules! debug {
    ($($name:ident<$($parameter:ident),*>: $index:tt),*) => {$(
        impl<$($parameter),*> fmt::Debug for $name<$($parameter),*> {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.$index {}
            }
        }
    )*};
}

debug!(OCamlList<T>: 1, OCamlArray<T>: 2, Function<Args, R>: 2);

impl fmt::Debug for OCamlAny {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {}
    }
}
