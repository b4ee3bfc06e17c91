//! A runtime that Rust starts and shuts down, and settings of the process.

mod state;

use crate::completion;
use crate::domains::Ending;
pub use crate::error::Users;
use crate::ffi::Generation;
use crate::lock::{self, Acquired, Use};
use crate::raw::ValueExt;
pub use crate::signals::protect_signals;
use crate::types::exception::text_of;
use crate::{ffi, AttachError, Error, ShutdownError, StartError, Value};
use ocaml_boxroot_sys as sys;
use state::{state, State, StateGuard};
use std::ffi::{c_char, CString, OsString};
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::thread;
use std::time::{Duration, Instant};

/// An OCaml runtime embedded in this program. Any thread uses it through
/// [`DomainLock::attach`](crate::DomainLock::attach).
///
/// A process can start one runtime, once. A `Runtime` is the right to shut it down, and owns
/// nothing: if it is dropped or forgotten, OCaml stays up until the process ends, and OCaml's
/// `at_exit` functions do not run. One of them flushes OCaml's buffers, so the output of
/// `print_string` may be lost. A program whose OCaml code prints, or has `at_exit` functions,
/// should therefore call [`shutdown`](Runtime::shutdown) at its end, or begin with
/// [`shutdown_on_drop`](Runtime::shutdown_on_drop).
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{DomainLock, Runtime};
///
/// fn main() -> Result<(), ocaml_boxroot::Error> {
///     let _runtime = Runtime::start()?.shutdown_on_drop();
///     DomainLock::attach(|lock| {
///         let (hello, _) = lock.alloc_string("hello")?;
///         assert_eq!(hello.to_string_lossy(), "hello");
///         Ok(())
///     })
/// }
/// ```
#[doc(alias("caml_startup", "caml_main", "caml_shutdown"))]
#[derive(Debug)]
pub struct Runtime(());

/// The target of the reference that `get_or_start` returns. A `Runtime` cannot be moved out of a
/// reference, so nobody can shut this one down.
static SHARED: Runtime = Runtime(());

impl Runtime {
    /// Starts the runtime and releases OCaml's lock. Starting initialises the OCaml modules that
    /// are linked into the program. OCaml sees a program without arguments; see
    /// [`builder`](Runtime::builder).
    ///
    /// The thread that calls this may end before the runtime is shut down. If the OCaml program
    /// does not link the `threads` library, this thread is the only one that can attach. On OCaml
    /// 4, a module that calls `Thread.exit` ends the process.
    ///
    /// # Errors
    ///
    /// [`AlreadyStarted`](crate::StartError::AlreadyStarted) the second time, in a program that
    /// OCaml started, and if OCaml is bytecode, which OCaml starts;
    /// [`Exception`](crate::StartError::Exception) if a module raised an exception: the modules
    /// that were initialised before can be used, but their unflushed output is lost, because
    /// nothing shuts this runtime down; [`StackTooSmall`](crate::StartError::StackTooSmall) on a
    /// thread with less than 320 KiB of stack left;
    /// [`OutOfMemory`](crate::AttachError::OutOfMemory); [`Invalid`](crate::AttachError::Invalid).
    #[doc(alias("caml_startup", "caml_main"))]
    pub fn start() -> Result<Runtime, StartError> {
        Runtime::builder().start()
    }

    /// A builder that starts the runtime with settings.
    pub fn builder() -> Builder {
        Builder { arguments: vec!["ocaml-boxroot".into()] }
    }

    /// The runtime of this process, which is started if it was not started yet. For libraries, and
    /// for tests, which share a process. The result cannot be used to shut the runtime down. If
    /// another thread is starting the runtime, waits until threads can attach, or until that start
    /// has failed.
    ///
    /// # Errors
    ///
    /// As [`start`](Runtime::start); if an earlier start failed when OCaml initialised its modules,
    /// or afterwards, its error again. [`Starting`](crate::StartError::Starting) on the thread that
    /// is starting OCaml, as long as OCaml has not called a function that
    /// [`export!`](crate::export!) defined; [`NotReady`](crate::AttachError::NotReady) in a program
    /// that OCaml started, as long as OCaml has not called such a function;
    /// [`TornDown`](crate::AttachError::TornDown) after the runtime was shut down;
    /// [`Forked`](crate::AttachError::Forked) in the child of a fork that was made while another
    /// thread was starting OCaml, and before threads could attach.
    pub fn get_or_start() -> Result<&'static Runtime, StartError> {
        let mut state = state();
        loop {
            if let State::Failed(error) = &*state {
                return Err(error.clone());
            }
            match sys::status() {
                sys::Status::Running => return Ok(&SHARED),
                sys::Status::ToreDown => return Err(AttachError::TornDown.into()),
                sys::Status::NotSetup => {}
                _ => return Err(AttachError::Invalid.into()),
            }
            match &*state {
                State::NotStarted if ffi::is_started() => return Err(AttachError::NotReady.into()),
                State::NotStarted => break,
                State::Starting(thread, _) if *thread == thread::current().id() => {
                    return Err(StartError::Starting)
                }
                State::Starting(_, generation) if generation.is_over() => {
                    return Err(AttachError::Forked.into())
                }
                State::Starting(..) => state.wait(),
                State::Started | State::Failed(_) => return Err(AttachError::last().into()),
            }
        }
        Runtime::builder().start_in(state).map(|_| &SHARED)
    }

    /// Shuts the runtime down: waits for the lock, runs OCaml's `at_exit` functions, and never
    /// gives the lock back. Any thread may do so. Live [`Boxroot`](crate::Boxroot)s may still be
    /// dropped, on any thread. The process keeps the OCaml heap until it ends, because threads that
    /// OCaml code made may still use it.
    ///
    /// Shared libraries (`cdylib`) that also contain this crate have their own count of users,
    /// which this function does not see. Their threads must not use OCaml any more.
    ///
    /// While the `at_exit` functions run, other Rust threads cannot attach any more
    /// ([`TornDown`](crate::AttachError::TornDown)). The `at_exit` functions can still call Rust
    /// functions, and so can OCaml's other threads, for which the `at_exit` functions may wait.
    /// Afterwards OCaml's threads block on the lock forever, including those that an `at_exit`
    /// function left in a Rust function; a mutex that such a function locked stays locked. Domains
    /// spawned but not joined by `at_exit` functions block at their next collection. There a new
    /// call of Rust fails with the exception `Failure`; in a call that began earlier, operations
    /// that need memory fail as after a shutdown ([`TornDown`](crate::AttachError::TornDown), or a
    /// panic that says so).
    ///
    /// # Errors
    ///
    /// [`Busy`](crate::ShutdownError::Busy) while other threads are attached, wait for the lock, or
    /// are in functions that OCaml called, while other domains run, and in a
    /// [`release`](crate::DomainLock::release) on this thread.
    /// [`StackTooSmall`](crate::ShutdownError::StackTooSmall) on a thread with less than 320 KiB of
    /// stack left. The other errors are those of [`DomainLock::attach`](crate::DomainLock::attach),
    /// such as [`AlreadyHeld`](crate::AttachError::AlreadyHeld) if this thread holds the lock. The
    /// [`Busy`] that is returned holds the error and the runtime, which is intact. If threads
    /// attach again and again, repeated tries do not help: at each moment one of them uses OCaml,
    /// or waits for the lock. See [`shutdown_within`](Runtime::shutdown_within).
    pub fn shutdown(self) -> Result<(), Busy> {
        shut_down().map_err(|error| Busy { error, runtime: self })
    }

    /// Like [`shutdown`](Runtime::shutdown), but waits until nothing uses the runtime, at most for
    /// `limit`. Meanwhile threads that want to [`attach`](crate::DomainLock::attach), and are not
    /// inside another `attach`, also wait. Afterwards they go on if this fails; otherwise their
    /// `attach` returns [`TornDown`](crate::AttachError::TornDown).
    ///
    /// Threads that attach in a loop do not keep this from succeeding, as they do with `shutdown`.
    /// But if a thread, in a [`release`](crate::DomainLock::release), waits for another one that
    /// must attach first, both wait until the limit; without a limit ([`Duration::MAX`]) they would
    /// wait forever.
    ///
    /// OCaml code that runs after the last other use, in threads of `Thread.create`, may take
    /// longer than the limit to give the lock up, and so may the `at_exit` functions.
    ///
    /// # Errors
    ///
    /// As [`shutdown`](Runtime::shutdown). Errors that waiting cannot change, such as
    /// [`AlreadyHeld`](crate::AttachError::AlreadyHeld), are returned at once.
    ///
    /// # Examples
    ///
    /// ```
    /// # use ocaml_boxroot::{AttachError, DomainLock, Runtime};
    /// use std::time::Duration;
    ///
    /// let runtime = Runtime::start()?;
    /// let worker = std::thread::spawn(|| loop {
    ///     if let Err(error) = DomainLock::with(|lock| drop(lock.alloc_string("work"))) {
    ///         return error;
    ///     }
    /// });
    /// runtime.shutdown_within(Duration::from_secs(60))?;
    /// assert_eq!(worker.join().unwrap(), AttachError::TornDown);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shutdown_within(self, limit: Duration) -> Result<(), Busy> {
        shut_down_within(limit).map_err(|error| Busy { error, runtime: self })
    }

    /// Shuts the runtime down when the result is dropped, usually at the end of `main`, even by `?`
    /// or a panic, but not by [`std::process::exit`], which drops nothing. If the runtime cannot be
    /// shut down, the drop writes the error of [`shutdown`](Runtime::shutdown) to standard error,
    /// and OCaml stays up. Like `shutdown`, the drop waits for the lock.
    pub fn shutdown_on_drop(self) -> ShutdownOnDrop {
        ShutdownOnDrop(self)
    }
}

/// Shuts the runtime down when it is dropped: [`Runtime::shutdown_on_drop`].
#[derive(Debug)]
#[must_use = "the runtime is shut down when this is dropped: bind it to a variable that lives to the end, such as `_runtime`"]
pub struct ShutdownOnDrop(Runtime);

impl Drop for ShutdownOnDrop {
    fn drop(&mut self) {
        if let Err(error) = shut_down() {
            ffi::report(&format!(
                "ocaml-boxroot: OCaml was not shut down, so its at_exit functions have not run, and what it has buffered is not \
                 written: {error}\n"
            ));
        }
    }
}

/// Settings for the start of the runtime, from [`Runtime::builder`].
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::Runtime;
///
/// let _ocaml = Runtime::builder().args(["program", "--verbose"]).start()?;
/// # Ok::<(), ocaml_boxroot::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    arguments: Vec<OsString>,
}

impl Builder {
    /// The strings that OCaml sees as `Sys.argv`. The first one is the name of the program.
    pub fn args<S: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    ///
    /// As [`Runtime::start`], and [`NulInArgument`](crate::StartError::NulInArgument) if an
    /// argument contains a NUL.
    pub fn start(self) -> Result<Runtime, StartError> {
        self.start_in(state())
    }

    fn start_in(self, mut state: StateGuard) -> Result<Runtime, StartError> {
        let arguments = self.arguments.into_iter().enumerate().map(|(number, argument)| {
            CString::new(argument.into_vec()).map_err(|_| StartError::NulInArgument(number))
        });
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        // SAFETY: no precondition.
        let is_first = unsafe { ffi::obx_can_start() } != 0
            && matches!(*state, State::NotStarted)
            && !ffi::is_started()
            && sys::status() == sys::Status::NotSetup;
        if !is_first {
            return Err(StartError::AlreadyStarted);
        }
        if !has_stack() {
            return Err(StartError::StackTooSmall);
        }
        state.set(State::Starting(thread::current().id(), Generation::now()));
        drop(state);
        let mut pointers: Vec<_> = arguments.iter().map(|argument| argument.as_ptr()).collect();
        pointers.push(std::ptr::null());
        // SAFETY: this is the first start in this process (`is_first`). The arguments are C strings
        // that live in `arguments`, with NULL at the end.
        let result = unsafe { start_and_release(&pointers) };
        self::state().set(match &result {
            Ok(()) => State::Started,
            Err(error) => State::Failed(error.clone()),
        });
        result.map(|()| Runtime(()))
    }
}

/// Whether the stack is large enough for OCaml code. A call of an OCaml function checks this by
/// itself; a start and a shutdown do not.
fn has_stack() -> bool {
    // SAFETY: the function has no precondition.
    unsafe { ffi::obx_has_stack_for_ocaml() != 0 }
}

/// Starts OCaml, sets boxroot up, and releases the lock.
///
/// # Safety
///
/// This is the first call in this process, and OCaml was not started. `arguments` are C strings,
/// and NULL at the end.
unsafe fn start_and_release(arguments: &[*const c_char]) -> Result<(), StartError> {
    // SAFETY: as promised by the caller. After `obx_start` this thread holds the lock, even if a
    // module raised. The exception is live while it is described, because nothing was allocated
    // since.
    unsafe {
        ffi::obx_set_known();
        let result = ffi::obx_start(arguments.as_ptr());
        let raised = ffi::is_exception(result).then(|| {
            StartError::Exception(text_of(Value::from_raw(ffi::extract_exception(result))))
        });
        lock::set_up();
        let attached = sys::token::attach().map(drop).ok_or_else(|| AttachError::last().into());
        ffi::caml_enter_blocking_section_no_pending();
        raised.map_or(attached, Err)
    }
}

fn shut_down_within(limit: Duration) -> Result<(), ShutdownError> {
    if !has_stack() {
        return Err(ShutdownError::StackTooSmall);
    }
    if Use::to_lock()?.is_nested() {
        return Err(ShutdownError::Busy(Users::ThisThread));
    }
    let end = Instant::now().checked_add(limit);
    // SAFETY: a process has one `Runtime` that can be shut down, so nobody else pauses uses.
    let _pause = unsafe { sys::uses::pause() };
    loop {
        // The lock may be taken for long while others have uses.
        let error = match sys::uses::of_others() {
            0 => match shut_down() {
                Err(error @ ShutdownError::Busy(_)) => error,
                result => return result,
            },
            uses => ShutdownError::Busy(Users::Threads(uses)),
        };
        if end.is_some_and(|end| Instant::now() >= end) {
            return Err(error);
        }
        thread::sleep(Duration::from_millis(1)); // the end of a use tells nobody
    }
}

/// How long the end of idle workers of pools may take. Without threads that OCaml code made in
/// their domains, it takes less than a millisecond. A worker with such threads stays, as do the
/// threads.
const WORKERS_MAY_TAKE: Duration = Duration::from_secs(1);

fn shut_down() -> Result<(), ShutdownError> {
    if !has_stack() {
        return Err(ShutdownError::StackTooSmall);
    }
    let acquired = Acquired::new()?;
    // SAFETY: `acquired` holds the lock, and there is no token.
    unsafe { Ending::dropped().wait_until(Instant::now() + WORKERS_MAY_TAKE) };
    let workers = Ending::all(|jobs, workers| {
        // SAFETY: `acquired` holds the lock.
        if unsafe { ffi::obx_other_domains() } > workers {
            return Err(ShutdownError::Busy(Users::Domains));
        }
        let by = match acquired.is_nested() {
            true => Users::ThisThread,
            false if jobs != 0 => Users::Jobs(jobs),
            // SAFETY: `acquired` is this thread's use, and the runtime is shut down below.
            false => match unsafe { sys::uses::forbid() } {
                Ok(()) => return Ok(()),
                Err(uses) => Users::Threads(uses),
            },
        };
        Err(ShutdownError::Busy(by))
    })?;
    // Neither is given back: the lock goes down with the runtime, and the use stays for `at_exit`
    // functions, which may call exported functions. So may OCaml code of other threads and domains,
    // while these functions wait.
    std::mem::forget(acquired);
    // SAFETY: this thread holds the lock, and has no token.
    unsafe { workers.wait_until(Instant::now() + WORKERS_MAY_TAKE) };
    #[cfg(feature = "debug-checks")]
    ffi::report(&sys::leak_report());
    // SAFETY: this thread holds the lock, and has no token. Without another domain, no root is read
    // after `boxroot_teardown`, and no collector runs: threads that have a token, because OCaml
    // called them meanwhile, have released the lock, and never get it back. With another domain, no
    // collection ends after `close`, because it would need this thread.
    unsafe {
        ffi::obx_shut_down();
        if ffi::obx_other_domains() == 0 {
            sys::boxroot_teardown();
            sys::uses::runtime_gone();
        } else {
            // An `at_exit` function has made a domain, and did not wait for it; or a pool's worker
            // has not ended.
            sys::uses::close();
        }
    }
    completion::close_all();
    Ok(())
}

/// A runtime that could not be shut down.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{AttachError, DomainLock, Runtime};
///
/// let runtime = Runtime::start()?;
/// let busy = DomainLock::with(|_lock| runtime.shutdown().unwrap_err())?;
/// assert_eq!(busy.error, AttachError::AlreadyHeld.into());
/// busy.runtime.shutdown()?; // here, nothing uses it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Busy {
    /// Why the runtime could not be shut down.
    pub error: ShutdownError,
    /// The runtime, which is intact.
    pub runtime: Runtime,
}

impl fmt::Debug for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl std::error::Error for Busy {}

/// The runtime in the [`Busy`] is lost, and cannot be shut down afterwards.
impl From<Busy> for Error {
    fn from(busy: Busy) -> Error {
        Error::Shutdown(busy.error)
    }
}
