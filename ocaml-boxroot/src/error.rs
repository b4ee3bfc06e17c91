use crate::call::registered::Place;
use crate::ffi;
use ocaml_boxroot_sys as sys;
use std::fmt;

/// Why an operation was refused. The operation has changed nothing, except for
/// [`StartupException`](Error::StartupException), and where the result of a call could not be converted: OCaml's function has run then.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{DomainLock, Error, Runtime};
///
/// assert_eq!(DomainLock::attach(|_| ()), Err(Error::NotSetup));
/// let _ocaml = Runtime::start()?;
/// assert_eq!(DomainLock::attach(|_| DomainLock::attach(|_| ())), Ok(Err(Error::AlreadyHeld)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// This thread does not hold the lock.
    LockNotHeld,
    /// This thread holds the lock already: in a function that OCaml called, in a finaliser that other code defined, or in
    /// another [`attach`](crate::DomainLock::attach). Use the token that is there.
    AlreadyHeld,
    /// This thread is dropping the Rust value of an [`OCamlBox`](crate::OCamlBox) inside a collection, where roots can be
    /// dropped, and OCaml cannot be used in any other way. If the `drop` needs OCaml, let it send the work to a thread that
    /// attaches.
    InFinaliser,
    /// Memory ran out. Existing roots are intact.
    OutOfMemory,
    /// A number that the OCaml type or the Rust type cannot hold.
    OutOfRange,
    /// An OCaml value that does not have the form of the Rust type: for example, an array of another length, or a
    /// constructor that the Rust type does not name.
    Mismatch,
    /// A [`Mismatch`](Error::Mismatch), [`OutOfRange`](Error::OutOfRange) or [`NotUtf8`](Error::NotUtf8), with its place: a
    /// part of a value, an argument or a result. [Builds with checks](crate#builds-with-checks) also return this for a
    /// `Mismatch` of which they say what was found instead.
    In(Box<PartError>),
    /// An OCaml string that is not UTF-8, for a Rust `String`.
    NotUtf8,
    /// A value is nested more deeply than conversions may go, or the stack nearly ran out during a conversion. See
    /// [`ToOCaml`](crate::ToOCaml#deep-values).
    TooDeep,
    /// OCaml registered no function, or no exception, under this name.
    NotRegistered(String),
    /// Rust functions cannot be OCaml functions in this program, which would have to be native code on x86-64 or arm64, in
    /// ELF object files. See [`Function`](crate::Function#rust-functions).
    NoClosures,
    /// No OCaml runtime was started.
    NotSetup,
    /// OCaml was started, but no thread of Rust can use it yet. [`Runtime::start`](crate::Runtime::start) allows that at its end.
    /// If OCaml or C has `main`, the first Rust function that OCaml calls by [bindings](crate::include_bindings!) or
    /// [`export!`](crate::export!) does, and so does `boxroot_setup`, under the lock. A thread without the lock cannot do that by
    /// itself: it does not know whether OCaml's lock will ever be free, nor whether the runtime was shut down.
    NotReady,
    /// The runtime was shut down, or boxroot was torn down.
    TornDown,
    /// No root can be created. On OCaml 4, the reason may be that the `Thread` module was initialised after
    /// `boxroot_setup`. On any version, it may be that the process has a different copy of the C library, too, which hides
    /// names of this copy.
    Invalid,
    /// This thread cannot attach: another library has registered it, or (OCaml 5.5) had registered it with another domain than
    /// the first; it is the thread of a domain that has ended; or OCaml could not register it. When OCaml registers the first thread, it starts one of its own, which the system may refuse;
    /// a later attach may succeed then.
    ThreadNotRegistered,
    /// The OCaml program does not link the `threads` library. Without it, only the thread that started OCaml can attach.
    SystemThreadsMissing,
    /// An OCaml runtime was started in this process before.
    AlreadyStarted,
    /// A module of the OCaml program raised this exception while it was initialised. The runtime is up, with the modules
    /// that were initialised before that one.
    StartupException(String),
    /// This thread is starting the OCaml runtime, whose modules are still being initialised.
    Starting,
    /// A runtime cannot be started or shut down on this thread: less than 320 KiB of its stack are left, and OCaml's modules and
    /// `at_exit` functions may take 256 KiB without checking for room. See the guide (`docs/guide/embedding.md`).
    StackTooSmall,
    /// An argument for OCaml contains a NUL.
    NulInArgument,
    /// This process was forked by a thread that did not hold the lock, or after OCaml had made another domain. Another thread may have
    /// been changing the heap at that moment, so the heap cannot be used; the child should exec or exit. To use OCaml in
    /// the child, fork under the lock, before the first `Domain.spawn`.
    Forked,
    /// The runtime cannot be shut down, because it is in use.
    Busy {
        /// Who uses the runtime. Only the first kind of users that was found is named; there may be others.
        by: Users,
    },
}

/// Who uses a runtime that cannot be shut down ([`Error::Busy`]).
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{DomainLock, Error, Runtime, Users};
///
/// let runtime = Runtime::start()?;
/// let busy = DomainLock::attach(|lock| lock.release(|| runtime.shutdown().unwrap_err()))?;
/// assert_eq!(busy.error, Error::Busy { by: Users::ThisThread });
/// assert_eq!(busy.to_string(), "the OCaml runtime is still in use by this thread, which is in DomainLock::release");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Users {
    /// This many other threads, which are attached, wait for the lock, or run functions that OCaml called.
    Threads(usize),
    /// The thread that wants to shut the runtime down, because it is in a [`release`](crate::DomainLock::release).
    ThisThread,
    /// Other domains, which run OCaml code, or wait.
    Domains,
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
        }
    }
}

/// An [`Error`] with its place: a part of a value, an argument or a result. Its text also says what was found there, if that is
/// known.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{CallError, Error, Function, OCamlInt};
///
/// # let _ocaml = ocaml_boxroot::Runtime::start()?;
/// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
/// let same = Function::<(OCamlInt,), OCamlInt>::from_rust(lock, |lock, n| n.to_rust::<i64>(lock))?;
/// let Err(CallError::Error(Error::In(part))) = same.call_converting::<u8>(lock, 300) else { panic!() };
/// assert_eq!(part.error(), &Error::OutOfRange);
/// println!("{part}"); // says that it is the result
/// # Ok(()) })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartError {
    /// The way from the part outwards to the whole value: names of fields, and constructors with the numbers or labels of their
    /// arguments. May be empty. (Each level adds its name, so that a deep value takes no longer than a flat one.)
    path: Vec<&'static str>,
    /// The argument, the result or the function; may be empty.
    of: String,
    error: Error,
    /// What is there, and what belongs there, in builds with checks; otherwise empty.
    found: String,
}

impl PartError {
    /// What is wrong at that place: never an [`In`](Error::In).
    pub fn error(&self) -> &Error {
        &self.error
    }
}

impl fmt::Display for PartError {
    /// Writes the place and the error: "`size.grams` of argument `order` of `reserve`: …".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((outermost, inner)) = self.path.split_last() {
            write!(f, "`{outermost}")?;
            for name in inner.iter().rev() {
                write!(f, ".{name}")?;
            }
            f.write_str(if self.of.is_empty() { "`: " } else { "` of " })?;
        }
        if !self.of.is_empty() {
            write!(f, "{}: ", self.of)?;
        }
        match &*self.found {
            "" => self.error.fmt(f),
            found => write!(f, "{}: {found}", self.error),
        }
    }
}

impl Error {
    /// What is wrong, without regard to where: the error in the place for an [`In`](Error::In), otherwise the error itself.
    pub fn reason(&self) -> &Error {
        match self {
            Error::In(part) => &part.error,
            error => error,
        }
    }

    /// The error, in the field or argument of a constructor with this name.
    #[cold]
    pub(crate) fn within(self, name: &'static str) -> Error {
        self.placed(|part| part.path.push(name))
    }

    /// The error, in this argument.
    #[cold]
    pub(crate) fn of_argument(self, Place(argument, function): Place<'_>) -> Error {
        self.of(format_args!("argument `{argument}` of `{function}`"))
    }

    /// The error, in the result of this function.
    #[cold]
    pub(crate) fn of_result(self, function: &str) -> Error {
        self.of(format_args!("the result of `{function}`"))
    }

    /// The error, in this argument, result or function.
    #[cold]
    pub(crate) fn of(self, what: fmt::Arguments<'_>) -> Error {
        self.placed(|part| part.of = what.to_string())
    }

    /// A [`Mismatch`](Error::Mismatch), with what was found.
    #[cold]
    pub(crate) fn mismatch(found: String) -> Error {
        Error::In(Box::new(PartError {
            path: Vec::new(),
            of: String::new(),
            error: Error::Mismatch,
            found,
        }))
    }

    fn placed(self, place: impl FnOnce(&mut PartError)) -> Error {
        let mut part = match self {
            Error::In(part) => part,
            error @ (Error::Mismatch | Error::OutOfRange | Error::NotUtf8) => {
                let [of, found] = [const { String::new() }; 2];
                Box::new(PartError { path: Vec::new(), of, error, found })
            }
            error => return error,
        };
        place(&mut part);
        Error::In(part)
    }

    /// Why the last call of the raw interface on this thread failed, by the state of the library and of the lock. If there
    /// are several reasons, this is the one that lasts longest.
    pub(crate) fn last() -> Error {
        match sys::status() {
            sys::Status::NotSetup if ffi::is_started() => Error::NotReady,
            sys::Status::NotSetup => Error::NotSetup,
            sys::Status::ToreDown => Error::TornDown,
            sys::Status::Invalid => Error::Invalid,
            _ => match sys::lock_state() {
                sys::LockState::Held | sys::LockState::Uncertain => Error::OutOfMemory,
                sys::LockState::NotHeld | sys::LockState::Ended => Error::LockNotHeld,
            },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::LockNotHeld => "this thread does not hold the lock of an OCaml domain",
            Error::AlreadyHeld => {
                "this thread holds the OCaml lock already; use the token that proves it"
            }
            Error::InFinaliser => {
                "OCaml's collector is dropping an OCamlBox on this thread: only roots can be dropped here"
            }
            Error::OutOfMemory => "out of memory; existing roots are intact",
            Error::OutOfRange => "a number that the other side's type cannot hold",
            Error::Mismatch => "an OCaml value that is not of the form that the Rust type has",
            Error::In(part) => return part.fmt(f),
            Error::NotUtf8 => "an OCaml string that is not UTF-8, for a Rust String",
            Error::TooDeep => {
                "a value that is nested too deep to be converted; see set_depth_limit, and the size of this thread's stack"
            }
            Error::StackTooSmall => {
                "less than 320 KiB of this thread's stack are left, which may be too little for OCaml code; use a thread with at least 512 KiB"
            }
            Error::NotRegistered(name) => {
                return write!(
                    f,
                    "OCaml has registered no such function or exception as {name:?}; is the module that does so \
                     linked, and initialised?"
                )
            }
            Error::NoClosures => {
                "Rust functions as OCaml functions need native code, on x86-64 or arm64, in ELF"
            }
            Error::NotSetup => "no OCaml runtime is running; start one with Runtime::start",
            Error::NotReady => {
                "OCaml was started, but Rust threads cannot use it before Runtime::start returns; if OCaml has main, before OCaml \
                 has called a Rust function of bindings or export!; if C has main, before it has called boxroot_setup"
            }
            Error::TornDown => "the OCaml runtime was shut down",
            Error::Invalid => {
                "boxroot cannot work here: the Thread module was initialised after boxroot was set up \
                 (link the threads library before what sets boxroot up), or the process has a different copy \
                 of the library, too, or the program's OCaml is of another version than the one that this crate was \
                 compiled for (cargo clean -p ocaml-boxroot-sys -p ocaml-boxroot)"
            }
            Error::ThreadNotRegistered => {
                "OCaml could not register this thread; it may be registered elsewhere, its domain may have ended, \
                 or the system may have refused OCaml a thread of its own"
            }
            Error::SystemThreadsMissing => {
                "the OCaml program does not link the threads library (in a build script, Program::library(\"threads\"); \
                 with dune, threads.posix; with ocamlopt, threads.cmxa), which is needed to use OCaml from several threads"
            }
            Error::AlreadyStarted => "an OCaml runtime was already started in this process",
            Error::StartupException(exception) => {
                return write!(f, "an OCaml module raised an exception: {exception}")
            }
            Error::Starting => "OCaml's modules are still being initialised, by this thread",
            Error::NulInArgument => "an argument for OCaml contains a NUL",
            Error::Forked => {
                "this process was forked without the OCaml lock, or after Domain.spawn, and cannot \
                 use OCaml; fork inside DomainLock::attach, before other domains are made"
            }
            Error::Busy { by } => return write!(f, "the OCaml runtime is still in use by {by}"),
        })
    }
}

/// The name of the variant, which the guide lists, and the text. `unwrap` and a `main` that returns the error print it so.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        macro_rules! name {
            ($($variant:ident)*) => {
                match self.reason() {
                    $(Error::$variant { .. } => stringify!($variant),)*
                }
            };
        }
        let name = name! {
            LockNotHeld AlreadyHeld InFinaliser OutOfMemory OutOfRange Mismatch In NotUtf8 TooDeep NotRegistered NoClosures
            NotSetup NotReady TornDown Invalid ThreadNotRegistered SystemThreadsMissing AlreadyStarted StartupException Starting
            StackTooSmall NulInArgument Forked Busy
        };
        write!(f, "{name}: {self}")
    }
}

impl std::error::Error for Error {}
