//! Errors by failed operation: attaching, starting and ending the runtime, converting values.
//! ([`CallError`] is in the module of exceptions.) Each text names the problem and the remedy.

use crate::call::registered::Place;
use crate::{ffi, CallError, Exception};
use ocaml_boxroot_sys as sys;
use std::fmt;
use std::ptr::NonNull;
use std::str::Utf8Error;

/// Defines an enumeration with a text for each variant. `unwrap`, and a `main` that returns the
/// error, also print the variant's name, which the guide lists.
macro_rules! reasons {
    ($made:ident: $(#[$of_type:meta])* $name:ident { $($(#[$meta:meta])* $variant:ident = $text:expr,)* }) => {
        $(#[$of_type])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$meta])* $variant,)*
        }

        impl $name {
            fn text(self) -> (&'static str, &'static str) {
                match self {
                    $($name::$variant => (stringify!($variant), $text),)*
                }
            }

            /// The static value of a `ConversionError` without a place.
            fn conversion_error(self) -> &'static Inner {
                match self {
                    $($name::$variant => {
                        static ERROR: Inner = Inner::$made($name::$variant);
                        &ERROR
                    })*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.text().1)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}: {self}", self.text().0)
            }
        }
    };
}

reasons! {
    attach:
    /// The reason why a thread cannot use OCaml. The failed operation had no effect.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{AttachError, DomainLock, Runtime, StartError};
    ///
    /// assert_eq!(DomainLock::with(|_| ()), Err(AttachError::NotSetup));
    /// let _ocaml = Runtime::start()?;
    /// let nested = DomainLock::with(|_| DomainLock::with(|_| ()))?;
    /// assert_eq!(nested, Err(AttachError::AlreadyHeld));
    /// # Ok::<(), StartError>(())
    /// ```
    AttachError {
        /// This thread does not hold the lock. Only unsafe code and the raw crate get this error;
        /// get a token from [`attach`](crate::DomainLock::attach).
        LockNotHeld = "this thread does not hold the lock of an OCaml domain",
        /// This thread holds the lock already: in a function that OCaml called, in a finaliser that
        /// other code defined, or in another [`attach`](crate::DomainLock::attach). Use the
        /// existing token.
        AlreadyHeld = "this thread holds the OCaml lock already; use the token that proves it",
        /// This thread is dropping the Rust value of an [`OCamlBox`](crate::markers::OCamlBox)
        /// inside a collection. The `drop` can drop roots, but cannot use OCaml in any other way.
        /// If it needs OCaml, let it send the work to another thread, which attaches.
        InFinaliser = "this thread is dropping a Rust value during a garbage collection: the drop can only drop roots",
        /// Memory ran out. Existing roots are intact.
        OutOfMemory = "out of memory; existing roots are intact",
        /// No OCaml runtime was started. Call [`Runtime::start`](crate::Runtime::start), or
        /// `get_or_start` in libraries and tests.
        NotSetup = "no OCaml runtime is running; start one with Runtime::start",
        /// OCaml was started, but no Rust thread can use it yet. Rust threads can use it once
        /// [`Runtime::start`](crate::Runtime::start) returns. If OCaml has `main`, it must first
        /// call a Rust function of [bindings](crate::include_bindings!) or
        /// [`export!`](crate::export!). If C has `main`, it must first call `boxroot_setup` under
        /// the lock. A thread without the lock cannot set this up itself, because it does not know
        /// whether OCaml's lock will ever be free, or whether the runtime was shut down.
        NotReady = "OCaml was started, but Rust threads cannot use it before Runtime::start returns; if OCaml has main, before OCaml \
            has called a Rust function of bindings or export!; if C has main, before it has called boxroot_setup",
        /// The runtime was shut down, or boxroot was torn down. A process cannot start it again.
        TornDown = "the OCaml runtime was shut down",
        /// No root can be created. On OCaml 4, the `Thread` module may have been initialised after
        /// `boxroot_setup`. On any version, the process may also have a different copy of the C
        /// library, which hides names of this copy.
        Invalid = "boxroot cannot be used in this process: either the Thread module was initialised after boxroot was set up \
            (link the threads library first), or the process also has a different copy of the library, \
            or this crate was compiled for another version of OCaml \
            (run cargo clean -p ocaml-boxroot-sys -p ocaml-boxroot)",
        /// This thread cannot attach. Another library has registered it, or once registered it with
        /// a domain other than the first (OCaml 5.5); or its domain has ended; or OCaml could not
        /// register it. When OCaml registers the first thread, it also starts its tick thread. If
        /// the system refuses to create the tick thread, a later attach may succeed.
        ThreadNotRegistered = "OCaml could not register this thread: C code may have registered it, its domain may have ended, \
            or the system may have refused to create OCaml's tick thread",
        /// The OCaml program does not link the `threads` library. Without it, only the thread that
        /// started OCaml can attach.
        SystemThreadsMissing = "the OCaml program does not link the threads library (in a build script, \
            Program::library(\"threads\"); with dune, threads.posix; with ocamlopt, threads.cmxa), which is needed to use OCaml from \
            several threads",
        /// This process was forked by a thread that did not hold the lock, or after OCaml had made
        /// another domain. Another thread may have been changing the heap at that moment, so the
        /// child cannot use the heap; it should exec or exit. To use OCaml in the child, fork under
        /// the lock, before the first `Domain.spawn`.
        Forked = "this process was forked without the OCaml lock, or after Domain.spawn, and cannot \
            use OCaml; fork inside DomainLock::attach, before other domains are made",
    }
}

impl AttachError {
    /// Why the last call of the raw interface on this thread failed, judging by the state of the
    /// library and of the lock. If several apply, returns the most permanent one.
    #[cold]
    pub(crate) fn last() -> AttachError {
        match sys::status() {
            sys::Status::NotSetup if ffi::is_started() => AttachError::NotReady,
            sys::Status::NotSetup => AttachError::NotSetup,
            sys::Status::ToreDown => AttachError::TornDown,
            sys::Status::Invalid => AttachError::Invalid,
            _ => match sys::lock_state() {
                sys::LockState::Held | sys::LockState::Uncertain => AttachError::OutOfMemory,
                sys::LockState::NotHeld | sys::LockState::Ended => AttachError::LockNotHeld,
            },
        }
    }
}

impl std::error::Error for AttachError {}

/// Why the OCaml runtime was not started.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// An OCaml runtime was started in this process before.
    /// [`Runtime::get_or_start`](crate::Runtime::get_or_start) returns it.
    AlreadyStarted,
    /// A module of the OCaml program raised this exception during its initialisation. The runtime
    /// is up, with the modules that were initialised before.
    Exception(String),
    /// This thread is starting the OCaml runtime, whose modules are still being initialised. If
    /// such a module has called a Rust function, use the token of that function.
    Starting,
    /// Less than 320 KiB of this thread's stack are left, but OCaml's modules may use 256 KiB
    /// without checking. See the guide (`docs/guide/embedding.md`).
    StackTooSmall,
    /// The argument with this number, counted from 0, contains a NUL. OCaml's arguments are C
    /// strings.
    NulInArgument(usize),
    /// The runtime was shut down, or cannot be used for another reason.
    Attach(AttachError),
}

const STACK_TOO_SMALL: &str = "less than 320 KiB of this thread's stack are left, which may be too little for OCaml code; use a \
    thread with at least 512 KiB";

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StartError::AlreadyStarted => {
                "an OCaml runtime was already started in this process; \
                 `Runtime::get_or_start` may be called any number of times, also in each test"
            }
            StartError::Exception(exception) => {
                return write!(f, "an OCaml module raised an exception: {exception}")
            }
            StartError::Starting => "OCaml's modules are still being initialised, by this thread",
            StartError::StackTooSmall => STACK_TOO_SMALL,
            StartError::NulInArgument(n) => {
                return write!(f, "argument {n} for OCaml contains a NUL")
            }
            StartError::Attach(error) => return error.fmt(f),
        })
    }
}

impl fmt::Debug for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            StartError::AlreadyStarted => "AlreadyStarted",
            StartError::Exception(_) => "Exception",
            StartError::Starting => "Starting",
            StartError::StackTooSmall => "StackTooSmall",
            StartError::NulInArgument(_) => "NulInArgument",
            StartError::Attach(error) => return fmt::Debug::fmt(error, f),
        };
        write!(f, "{name}: {self}")
    }
}

/// Why the runtime was not shut down. The runtime is intact.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::runtime::Users;
/// use ocaml_boxroot::{DomainLock, Error, Runtime, ShutdownError};
///
/// let runtime = Runtime::start()?;
/// let busy = DomainLock::with(|lock| lock.release(|| runtime.shutdown().unwrap_err()))?;
/// assert_eq!(busy.error, ShutdownError::Busy(Users::ThisThread));
/// assert_eq!(
///     busy.to_string(),
///     "the OCaml runtime is still in use by this thread, which is in DomainLock::release"
/// );
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShutdownError {
    /// The runtime is in use. There may be other users besides the ones given here.
    Busy(Users),
    /// Less than 320 KiB of this thread's stack are left, but OCaml's `at_exit` functions may use
    /// 256 KiB without checking.
    StackTooSmall,
    /// This thread cannot take the lock.
    Attach(AttachError),
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShutdownError::Busy(by) => write!(f, "the OCaml runtime is still in use by {by}"),
            ShutdownError::StackTooSmall => f.write_str(STACK_TOO_SMALL),
            ShutdownError::Attach(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShutdownError::Busy(_) => write!(f, "Busy: {self}"),
            ShutdownError::StackTooSmall => write!(f, "StackTooSmall: {self}"),
            ShutdownError::Attach(error) => fmt::Debug::fmt(error, f),
        }
    }
}

/// Why no pool of domains was created.
///
/// | error | what to do |
/// |---|---|
/// | `NoWorkers` | ask for at least one worker |
/// | `NotLinked` | compile the OCaml program with the build helper, or register `Domain.spawn` |
/// | `Refused` | ask for fewer workers, or raise `d` in `OCAMLRUNPARAM` |
/// | `Attach` | as its text says; after a fork or a shutdown, there is no pool |
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::domains::DomainsError;
/// use ocaml_boxroot::Domains;
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// assert_eq!(Domains::new(lock, 0).unwrap_err(), DomainsError::NoWorkers);
/// # Ok(()) });
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DomainsError {
    /// A pool needs at least one worker.
    NoWorkers,
    /// The OCaml program has not registered `Domain.spawn` for Rust.
    NotLinked,
    /// OCaml or the system refused to create another worker, for this reason. By default, OCaml has
    /// room for 128 domains.
    Refused(String),
    /// OCaml cannot be used.
    Attach(AttachError),
}

impl fmt::Display for DomainsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DomainsError::NoWorkers => f.write_str("a pool of domains needs at least one worker"),
            DomainsError::NotLinked => f.write_str(
                "the OCaml program does not register Domain.spawn for Rust. Compile it with \
                 ocaml_boxroot_sys::build::Program, or link the glue of Bindings, or add the OCaml code in the \
                 guide's page In parallel to a module",
            ),
            DomainsError::Refused(text) => write!(
                f,
                "a worker could not be made: {text}. OCaml has room for 128 domains, or for as many as d in \
                 OCAMLRUNPARAM says; ask for fewer workers"
            ),
            DomainsError::Attach(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for DomainsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            DomainsError::NoWorkers => "NoWorkers",
            DomainsError::NotLinked => "NotLinked",
            DomainsError::Refused(_) => "Refused",
            DomainsError::Attach(error) => return fmt::Debug::fmt(error, f),
        };
        write!(f, "{name}: {self}")
    }
}

/// Who uses a runtime that cannot be shut down ([`ShutdownError::Busy`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Users {
    /// This many other threads, which are attached, wait for the lock, or run functions called by
    /// OCaml.
    Threads(usize),
    /// The calling thread, which is in a [`release`](crate::DomainLock::release).
    ThisThread,
    /// Other domains, running or waiting. Idle workers of a [pool](crate::Domains) do not count.
    Domains,
    /// This many jobs of [pools of domains](crate::Domains), running or waiting for a worker.
    Jobs(usize),
}

impl fmt::Display for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Users::Threads(1) => f.write_str(
                "another thread, which is attached, waits for the lock, or runs a function that OCaml called",
            ),
            Users::Threads(n) => write!(
                f,
                "{n} other threads, which are attached, wait for the lock, or run functions that OCaml called"
            ),
            Users::ThisThread => f.write_str("this thread, which is in DomainLock::release"),
            Users::Domains => f.write_str("other domains; join them first (Domain.join)"),
            Users::Jobs(1) => f.write_str("a job of a pool of domains; join it first"),
            Users::Jobs(n) => write!(f, "{n} jobs of pools of domains; join them first"),
        }
    }
}

reasons! {
    of_kind:
    /// The kind of a [`ConversionError`].
    ConversionErrorKind {
        /// An OCaml value does not have the form of the Rust type: for example, an array has
        /// another length, or the Rust type lacks a constructor. If you promised the types with
        /// `unsafe`, compare them with OCaml's.
        Mismatch = "OCaml value does not match the expected type",
        /// A number does not fit in the OCaml type or the Rust type. Use a larger type, or
        /// `Wrapping`, which keeps the bits that fit.
        OutOfRange = "number out of range for the target type",
        /// A part is not inside its bigarray, or bigarrays have different sizes.
        OutOfBounds = "index or size out of bounds",
        /// An OCaml string for a Rust `String` is not UTF-8. A `Vec<u8>` takes all strings.
        NotUtf8 = "OCaml string is not UTF-8",
        /// A value is nested more deeply than conversions allow, or the stack nearly ran out during
        /// a conversion. See [`ToOCaml`](crate::ToOCaml#deep-values).
        TooDeep = "value nested too deep to convert; see depth::set_limit, and the size of this thread's stack",
        /// Memory ran out. Existing roots are intact.
        OutOfMemory = "out of memory; existing roots are intact",
        /// Rust functions cannot be OCaml functions in this program, because it is not native code
        /// for x86-64 or arm64 in ELF object files. See
        /// [`Function`](crate::Function#rust-functions).
        NoClosures = "Rust functions as OCaml functions need native code, on x86-64 or arm64, in ELF",
        /// OCaml cannot be used. The error was made from an [`AttachError`] and has its text.
        /// [`attach`](ConversionError::attach) returns the `AttachError`.
        Attach = "OCaml cannot be used",
    }
}

/// The reason why a value could not be converted, allocated or rooted, and the part of it that
/// caused the error. The failed operation had no effect; but if the value is the result of a call,
/// the OCaml function has run.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{CallError, ConversionErrorKind, Function, OCamlInt};
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let same = Function::<(OCamlInt,), OCamlInt>::from_rust_converting(lock, |_, n: i64| Ok(n))?;
/// let Err(CallError::Conversion(error)) = same.call_converting::<u8>(lock, 300) else { panic!() };
/// assert_eq!(error.kind(), ConversionErrorKind::OutOfRange);
/// println!("{error}"); // says that the result caused it
/// # Ok(()) });
/// ```
pub struct ConversionError(
    /// A static if the error has no place, otherwise a `Box` that this error owns. So an error
    /// without a place needs no memory. An error is one pointer, so a `Result` fits in a register.
    NonNull<Inner>,
);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ConversionErrorKind,
    /// For [`ConversionErrorKind::Attach`].
    attach: Option<AttachError>,
    /// The path from the part outwards to the whole value: names of fields, and constructors with
    /// the numbers or labels of their arguments. (Each level appends its name, so deep values take
    /// no longer than flat ones.)
    path: Vec<&'static str>,
    /// The argument, the result or the function; may be empty.
    of: String,
    /// The value and the expected type, in builds with checks; otherwise empty.
    found: String,
    /// Whether there is neither a place nor a found value.
    is_static: bool,
}

impl Inner {
    const fn of_kind(kind: ConversionErrorKind) -> Inner {
        Inner::new(kind, None)
    }

    const fn attach(error: AttachError) -> Inner {
        Inner::new(ConversionErrorKind::Attach, Some(error))
    }

    const fn new(kind: ConversionErrorKind, attach: Option<AttachError>) -> Inner {
        let path = Vec::new();
        let of = String::new();
        let found = String::new();
        Inner { kind, attach, path, of, found, is_static: true }
    }
}

// SAFETY: the error owns an `Inner`, or shares a static one.
unsafe impl Send for ConversionError {}
// SAFETY: as above; without `&mut`, it is only read.
unsafe impl Sync for ConversionError {}

impl Drop for ConversionError {
    fn drop(&mut self) {
        if !self.inner().is_static {
            // SAFETY: the pointer is from a `Box` (`own`), which only this error owns.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl Clone for ConversionError {
    fn clone(&self) -> ConversionError {
        match self.inner().is_static {
            true => ConversionError(self.0),
            false => ConversionError::own(self.inner().clone()),
        }
    }
}

impl PartialEq for ConversionError {
    fn eq(&self, other: &ConversionError) -> bool {
        self.inner() == other.inner()
    }
}

impl Eq for ConversionError {}

impl ConversionError {
    /// For conversions that users implement. Allocates no memory.
    #[cold]
    pub fn new(kind: ConversionErrorKind) -> ConversionError {
        ConversionError(NonNull::from(kind.conversion_error()))
    }

    /// The kind of error, without its place.
    pub fn kind(&self) -> ConversionErrorKind {
        self.inner().kind
    }

    /// The reason why OCaml cannot be used, if this error has that kind.
    pub fn attach(&self) -> Option<AttachError> {
        self.inner().attach
    }

    fn inner(&self) -> &Inner {
        // SAFETY: the pointer is to a static, or to the `Box` of this error.
        unsafe { self.0.as_ref() }
    }

    /// An error in a `Box`.
    fn own(inner: Inner) -> ConversionError {
        ConversionError(NonNull::from(Box::leak(Box::new(inner))))
    }

    /// The contents, in a `Box` that this error owns.
    fn inner_mut(&mut self) -> &mut Inner {
        if self.inner().is_static {
            *self = ConversionError::own(Inner { is_static: false, ..self.inner().clone() });
        }
        // SAFETY: the pointer is to the `Box` of this error, which is borrowed mutably.
        unsafe { self.0.as_mut() }
    }

    /// Why the last function of the raw interface created no root.
    #[cold]
    pub(crate) fn last() -> ConversionError {
        AttachError::last().into()
    }

    /// Adds a field, or an argument of a constructor, to the place.
    #[cold]
    pub(crate) fn within(mut self, name: &'static str) -> ConversionError {
        if self.has_place() {
            self.inner_mut().path.push(name);
        }
        self
    }

    /// Adds this argument to the place.
    #[cold]
    pub(crate) fn of_argument(self, Place(argument, function): Place<'_>) -> ConversionError {
        self.of(format_args!("argument `{argument}` of `{function}`"))
    }

    /// Adds the result of this function to the place.
    #[cold]
    pub(crate) fn of_result(self, function: &str) -> ConversionError {
        self.of(format_args!("the result of `{function}`"))
    }

    /// Adds this argument, result or function to the place.
    #[cold]
    pub(crate) fn of(mut self, what: fmt::Arguments<'_>) -> ConversionError {
        if self.has_place() {
            self.inner_mut().of = what.to_string();
        }
        self
    }

    /// A [`Mismatch`](ConversionErrorKind::Mismatch), with a description of the value.
    #[cold]
    pub(crate) fn mismatch(found: String) -> ConversionError {
        let mut error = ConversionError::new(ConversionErrorKind::Mismatch);
        error.inner_mut().found = found;
        error
    }

    /// Whether errors of this kind have a place.
    fn has_place(&self) -> bool {
        use ConversionErrorKind::*;
        matches!(self.kind(), Mismatch | OutOfRange | NotUtf8)
    }
}

impl From<ConversionErrorKind> for ConversionError {
    #[cold]
    fn from(kind: ConversionErrorKind) -> ConversionError {
        ConversionError::new(kind)
    }
}

impl From<AttachError> for ConversionError {
    #[cold]
    fn from(error: AttachError) -> ConversionError {
        if error == AttachError::OutOfMemory {
            return ConversionErrorKind::OutOfMemory.into();
        }
        ConversionError(NonNull::from(error.conversion_error()))
    }
}

impl From<Utf8Error> for ConversionError {
    fn from(_: Utf8Error) -> ConversionError {
        ConversionErrorKind::NotUtf8.into()
    }
}

/// Writes the place and the error: "`size.grams` of argument `order` of `reserve`: …".
impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, attach, path, of, found, .. } = self.inner();
        if let Some((outermost, inner)) = path.split_last() {
            write!(f, "`{outermost}")?;
            for name in inner.iter().rev() {
                write!(f, ".{name}")?;
            }
            f.write_str(if of.is_empty() { "`: " } else { "` of " })?;
        }
        if !of.is_empty() {
            write!(f, "{of}: ")?;
        }
        match (attach, &**found) {
            (Some(error), _) => error.fmt(f),
            (None, "") => kind.fmt(f),
            (None, found) => write!(f, "{kind}: {found}"),
        }
    }
}

impl fmt::Debug for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.attach() {
            Some(error) => fmt::Debug::fmt(&error, f),
            None => write!(f, "{}: {self}", self.kind().text().0),
        }
    }
}

impl std::error::Error for ConversionError {}

/// Any error of this crate, for `?` in programs that do not distinguish them.
#[derive(Clone)]
#[non_exhaustive]
pub enum Error {
    /// A thread cannot use OCaml.
    Attach(AttachError),
    /// The runtime was not started.
    Start(StartError),
    /// The runtime was not shut down.
    Shutdown(ShutdownError),
    /// No pool of domains was made.
    Domains(DomainsError),
    /// A value could not be converted.
    Conversion(ConversionError),
    /// A call returned no result.
    Call(CallError),
}

/// Implements `From` for the errors that the variants wrap.
macro_rules! sum {
    ($name:ident: $($variant:ident($error:ty)),*) => {
        $(impl From<$error> for $name {
            fn from(error: $error) -> $name {
                $name::$variant(error)
            }
        })*
    };
}

pub(crate) use sum;

sum!(Error: Attach(AttachError), Shutdown(ShutdownError), Start(StartError));
sum!(StartError: Attach(AttachError));
sum!(DomainsError: Attach(AttachError));
sum!(ShutdownError: Attach(AttachError));

/// A [`DomainsError`] that contains an [`AttachError`] becomes [`Error::Attach`].
impl From<DomainsError> for Error {
    fn from(error: DomainsError) -> Error {
        match error {
            DomainsError::Attach(error) => Error::Attach(error),
            error => Error::Domains(error),
        }
    }
}

/// A [`ConversionError`] that contains an [`AttachError`] becomes [`Error::Attach`].
impl From<ConversionError> for Error {
    fn from(error: ConversionError) -> Error {
        error.attach().map_or_else(|| Error::Conversion(error), Error::Attach)
    }
}

/// A [`CallError`] that contains a [`ConversionError`] or an [`AttachError`] becomes
/// [`Error::Conversion`] or [`Error::Attach`].
impl From<CallError> for Error {
    fn from(error: CallError) -> Error {
        match error {
            CallError::Conversion(error) => error.into(),
            CallError::Attach(error) => Error::Attach(error),
            error => Error::Call(error),
        }
    }
}

impl From<Exception> for Error {
    fn from(exception: Exception) -> Error {
        Error::Call(exception.into())
    }
}

impl Error {
    fn inner(&self) -> &(dyn std::error::Error + 'static) {
        match self {
            Error::Attach(error) => error,
            Error::Start(error) => error,
            Error::Shutdown(error) => error,
            Error::Domains(error) => error,
            Error::Conversion(error) => error,
            Error::Call(error) => error,
        }
    }
}

/// Like the wrapped error.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.inner(), f)
    }
}

/// Like the wrapped error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.inner(), f)
    }
}

/// The text is that of the wrapped error, so the source is that error's source.
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.inner().source()
    }
}

impl std::error::Error for StartError {}
impl std::error::Error for ShutdownError {}
impl std::error::Error for DomainsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_conversions_are_one_pointer() {
        assert_eq!(size_of::<Result<String, ConversionError>>(), size_of::<String>());
        let plain = ConversionError::new(ConversionErrorKind::OutOfRange);
        let placed = plain.clone().within("grams").within("size").of(format_args!("it"));
        assert_eq!(plain, ConversionErrorKind::OutOfRange.into());
        assert_ne!(plain, placed);
        assert_eq!(placed.clone(), placed);
        let text = "`size.grams` of it: number out of range for the target type";
        assert_eq!(placed.to_string(), text);
        assert!(std::ptr::eq(plain.inner(), plain.clone().inner()), "a static");
        let found = ConversionError::mismatch("a string".into()).within("size");
        assert!(
            found.to_string().starts_with("`size`: ") && found.to_string().ends_with(": a string")
        );
    }

    #[test]
    fn errors_of_attaching_are_found_again() {
        let attach = AttachError::Forked;
        let conversion = ConversionError::from(attach).within("size");
        assert_eq!(
            (conversion.kind(), conversion.attach()),
            (ConversionErrorKind::Attach, Some(attach))
        );
        assert_eq!(conversion.to_string(), attach.to_string());
        for error in
            [Error::from(conversion.clone()), CallError::from(conversion).into(), attach.into()]
        {
            assert!(matches!(error, Error::Attach(AttachError::Forked)), "{error:?}");
        }
    }
}
