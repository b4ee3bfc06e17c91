use ocaml_boxroot_sys as sys;
use std::fmt;

/// Why an operation was refused. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// This thread does not hold the lock.
    LockNotHeld,
    /// This thread holds the lock already: in a callback, a finaliser, or under another
    /// [`DomainLock`](crate::DomainLock). Use the token that is there.
    AlreadyHeld,
    /// Memory ran out. Existing roots are intact.
    OutOfMemory,
    /// No OCaml runtime was started, or `boxroot_setup` did not run.
    NotSetup,
    /// The runtime was shut down, or boxroot was torn down.
    TornDown,
    /// OCaml 4: the `Thread` module was initialised after `boxroot_setup`.
    Invalid,
    /// OCaml refused to register this thread, some other library registered it, or the
    /// thread is ending.
    ThreadNotRegistered,
    /// The OCaml program does not link the `threads` library, which other threads need.
    SystemThreadsMissing,
    /// An OCaml runtime was started in this process before.
    AlreadyStarted,
    /// A module of the OCaml program raised an exception while it was initialised.
    StartupException,
    /// The runtime cannot be shut down while other threads use it, or are registered with it.
    Busy {
        /// How many uses there are.
        uses: usize,
    },
}

impl Error {
    /// Why the last call of the raw API on this thread failed. Checks the most lasting
    /// reasons first.
    pub(crate) fn last() -> Error {
        match sys::boxroot_status() {
            sys::Status::NotSetup => Error::NotSetup,
            sys::Status::ToreDown => Error::TornDown,
            sys::Status::Invalid => Error::Invalid,
            sys::Status::Running => match sys::lock_state() {
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
            Error::OutOfMemory => "out of memory; existing roots are intact",
            Error::NotSetup => "no OCaml runtime is running; start one with Runtime::start",
            Error::TornDown => "the OCaml runtime was shut down",
            Error::Invalid => {
                "the Thread module was initialised after boxroot was set up; link the threads \
                 library into the OCaml program"
            }
            Error::ThreadNotRegistered => {
                "OCaml could not register this thread; it may be ending, or registered elsewhere"
            }
            Error::SystemThreadsMissing => {
                "the OCaml program does not link the threads library (threads.cmxa), which is \
                 needed to use OCaml from several threads"
            }
            Error::AlreadyStarted => "an OCaml runtime was already started in this process",
            Error::StartupException => {
                "an OCaml module raised an exception when it was initialised"
            }
            Error::Busy { uses } => {
                return write!(
                    f,
                    "the OCaml runtime is still in use by other threads ({uses} uses)"
                )
            }
        })
    }
}

impl std::error::Error for Error {}
