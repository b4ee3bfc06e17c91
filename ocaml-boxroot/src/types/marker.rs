//! *Markers*: Rust types that only name OCaml types, for `Value<'l, T>` and `Boxroot<T>`. Markers have no values.
//!
//! Two rules make safe code sound:
//!
//! * *Threads.* A root may go to other threads if its marker is `Send` and `Sync`. A marker with parameters is both
//!   if all its parameters are.
//! * *Variance.* Lifetimes in a parameter may be shortened where OCaml only gives values of that type (covariant: lists,
//!   options, results of functions). They may be lengthened where OCaml only takes such values (contravariant:
//!   arguments of functions). They stay as they are where OCaml does both (invariant: arrays and references, which
//!   change).

use std::fmt;
use std::marker::PhantomData;

/// A type without values: a struct with such a field has none, either.
#[derive(Clone, Copy)]
pub(crate) enum Uninhabited {}

/// A struct with such a field is invariant in `T`.
pub(crate) type Invariant<T> = PhantomData<fn(T) -> T>;

macro_rules! simple {
    ($($(#[$attribute:meta])* $name:ident;)*) => {$(
        $(#[$attribute])*
        #[derive(Debug)]
        pub enum $name {}
    )*};
}

simple! {
    /// The type of OCaml's `int`, for `Value<'l, OCamlInt>` and `Boxroot<OCamlInt>`.
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

/// Any OCaml type: the type of a value of which nothing is known. Its roots are neither `Send` nor `Sync`, because the
/// value's own type may not allow other threads to use it.
pub struct OCamlAny(PhantomData<*const ()>, Uninhabited);

/// The type of OCaml's `T list`. Covariant.
pub struct OCamlList<T>(PhantomData<T>, Uninhabited);

/// The type of OCaml's `T array`, also for arrays of floats. Invariant: arrays change.
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
/// `Boxroot<Function<(OCamlString,), OCamlInt>>`. If `Args` is `()`, the function takes OCaml's `()`.
/// Contravariant in `Args`, covariant in `R`.
///
/// # Rust functions
///
/// `Function::<Args, R>::from_rust` makes an OCaml function from a Rust function. OCaml owns the Rust function, and drops it
/// on any thread when it is garbage, as it drops an [`OCamlBox`](crate::OCamlBox). OCaml may call it on any thread, on
/// several threads at once, and again while a call is running. The Rust function gets the token and roots of the
/// arguments. It returns a root, or a Rust value that is [`ToOCaml`](crate::ToOCaml) the result's type, or an error, which
/// OCaml sees as with [`export!`](crate::export!).
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
/// assert_eq!(name.call(lock, &two)?.0.to_string_lossy(), "two");
/// # Ok(()) })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Function<Args, R: ?Sized>(
    PhantomData<fn(Args)>,
    PhantomData<*const R>, // neither `Send` nor `Sync` by itself: see the implementations below
    Uninhabited,
);

// SAFETY: the type is only a name. A thread that has a root of a closure can call it, and so use values of the types
// that it takes and returns; these types allow that.
unsafe impl<Args: Send + Sync, R: ?Sized + Send + Sync> Send for Function<Args, R> {}
// SAFETY: as for `Send`.
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
