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
/// A process can start one runtime, once. A `Runtime` is only the right to shut it down: if it is
/// dropped or forgotten, OCaml stays up until the process ends, and OCaml's `at_exit` functions do
/// not run. One of them flushes OCaml's buffers, so the output of `print_string` may be lost. A
/// program whose OCaml code prints, or has `at_exit` functions, should therefore call
/// [`shutdown`](Runtime::shutdown) at its end, or begin with
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
    /// are linked into the program. OCaml sees no program arguments; to pass some, use a
    /// [`builder`](Runtime::builder).
    ///
    /// The thread that calls this may end before the runtime is shut down. If the OCaml program
    /// does not link the `threads` library, this thread is the only one that can attach. On OCaml
    /// 4, a module that calls `Thread.exit` ends the process.
    ///
    /// # Errors
    ///
    /// [`AlreadyStarted`](crate::StartError::AlreadyStarted) on a second call, in a program that
    /// OCaml started, and in bytecode programs, which OCaml starts itself;
    /// [`Exception`](crate::StartError::Exception) if a module raised an exception (the modules
    /// initialised before it can be used, but their unflushed output is lost, because nothing shuts
    /// this runtime down); [`StackTooSmall`](crate::StartError::StackTooSmall) on a thread with
    /// less than 320 KiB of stack left; [`OutOfMemory`](crate::AttachError::OutOfMemory);
    /// [`Invalid`](crate::AttachError::Invalid).
    #[doc(alias("caml_startup", "caml_main"))]
    pub fn start() -> Result<Runtime, StartError> {
        Runtime::builder().start()
    }

    /// Returns a builder, which starts the runtime with settings.
    pub fn builder() -> Builder {
        Builder { arguments: vec!["ocaml-boxroot".into()] }
    }

    /// Returns the runtime of this process, and starts it if necessary. This is for libraries, and
    /// for tests, which share a process. The result cannot be used to shut the runtime down. If
    /// another thread is starting the runtime, waits until threads can attach, or until that start
    /// has failed.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Runtime::start). If an earlier start failed while OCaml initialised its
    /// modules, or afterwards, returns the error of that start again.
    /// [`Starting`](crate::StartError::Starting) on the thread that is starting OCaml, as long as
    /// OCaml has not called a function that [`export!`](crate::export!) defined;
    /// [`NotReady`](crate::AttachError::NotReady) in a program that OCaml started, as long as OCaml
    /// has not called such a function; [`TornDown`](crate::AttachError::TornDown) after the runtime
    /// was shut down; [`Forked`](crate::AttachError::Forked) in the child of a fork, if another
    /// thread was starting OCaml at the time of the fork, and threads could not attach yet.
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
    /// releases the lock again. Any thread may call this. Live [`Boxroot`](crate::Boxroot)s may
    /// still be dropped, on any thread. The process keeps the OCaml heap until it ends, because
    /// threads that OCaml code made may still use it.
    ///
    /// This function does not see how other shared libraries (`cdylib`) that contain this crate use
    /// the runtime. Their threads must not use OCaml any more.
    ///
    /// While the `at_exit` functions run, other Rust threads cannot attach any more
    /// ([`TornDown`](crate::AttachError::TornDown)). The `at_exit` functions can still call Rust
    /// functions, and so can OCaml's other threads, for which the `at_exit` functions may wait.
    /// Afterwards OCaml's threads block on the lock forever, including those that are in a Rust
    /// function; a mutex that such a function has locked stays locked. Domains spawned but not
    /// joined by `at_exit` functions block at their next collection. Until then, their new calls of
    /// Rust fail with the exception `Failure`; in a call that began earlier, operations that need
    /// memory fail as after a shutdown ([`TornDown`](crate::AttachError::TornDown), or a panic that
    /// says so).
    ///
    /// # Errors
    ///
    /// [`Busy`](crate::ShutdownError::Busy) if other threads are attached, wait for the lock, or
    /// are in functions that OCaml called; if other domains run; or if this thread is in a
    /// [`release`](crate::DomainLock::release).
    /// [`StackTooSmall`](crate::ShutdownError::StackTooSmall) on a thread with less than 320 KiB of
    /// stack left. The other errors are those of [`DomainLock::attach`](crate::DomainLock::attach),
    /// such as [`AlreadyHeld`](crate::AttachError::AlreadyHeld) if this thread holds the lock. The
    /// returned [`Busy`] holds the error and the runtime, which is intact. If other threads attach
    /// in a loop, trying again does not help, because one of them always uses OCaml or waits for
    /// the lock. Then use [`shutdown_within`](Runtime::shutdown_within).
    pub fn shutdown(self) -> Result<(), Busy> {
        shut_down().map_err(|error| Busy { error, runtime: self })
    }

    /// Like [`shutdown`](Runtime::shutdown), but first waits until nothing uses the runtime, at
    /// most for `limit`. Meanwhile threads that call [`attach`](crate::DomainLock::attach) also
    /// wait, unless the call is nested in another `attach`. If the shutdown fails, they continue;
    /// otherwise their `attach` returns [`TornDown`](crate::AttachError::TornDown).
    ///
    /// Unlike `shutdown`, this succeeds even if other threads attach in a loop. But if a thread
    /// waits, in a [`release`](crate::DomainLock::release), for another thread that must attach
    /// first, both wait until the limit, or forever if the limit is [`Duration::MAX`].
    ///
    /// The limit does not include the time that `Thread.create` threads keep the lock, or the time
    /// that `at_exit` functions take.
    ///
    /// # Errors
    ///
    /// As [`shutdown`](Runtime::shutdown). Errors that waiting cannot change, such as
    /// [`AlreadyHeld`](crate::AttachError::AlreadyHeld), are returned without waiting.
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

    /// Shuts the runtime down when the result is dropped, usually at the end of `main`, even if
    /// `main` ends with `?` or a panic. It is not dropped by [`std::process::exit`]. If the runtime
    /// cannot be shut down, the drop writes the error of [`shutdown`](Runtime::shutdown) to
    /// standard error, and OCaml stays up. Like `shutdown`, the drop waits for the lock.
    pub fn shutdown_on_drop(self) -> ShutdownOnDrop {
        ShutdownOnDrop(self)
    }
}

/// Shuts the runtime down when it is dropped; from [`Runtime::shutdown_on_drop`].
#[derive(Debug)]
#[must_use = "the runtime is shut down when this is dropped: bind it to a variable that lives to the end, such as `_runtime`"]
pub struct ShutdownOnDrop(Runtime);

impl Drop for ShutdownOnDrop {
    fn drop(&mut self) {
        if let Err(error) = shut_down() {
            ffi::report(&format!(
                "ocaml-boxroot: OCaml was not shut down, so its at_exit functions have not run, and its buffered output is \
                 lost: {error}\n"
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
    /// Sets the strings that OCaml sees as `Sys.argv`. The first one is the name of the program.
    pub fn args<S: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    ///
    /// Those of [`Runtime::start`], and [`NulInArgument`](crate::StartError::NulInArgument) if an
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
/// itself; starting and shutting down do not.
fn has_stack() -> bool {
    // SAFETY: the function has no precondition.
    unsafe { ffi::obx_has_stack_for_ocaml() != 0 }
}

/// Starts OCaml, sets boxroot up, and releases the lock.
///
/// # Safety
///
/// This is the first call in this process, and OCaml was not started. `arguments` are C strings,
/// followed by NULL.
unsafe fn start_and_release(arguments: &[*const c_char]) -> Result<(), StartError> {
    // SAFETY: as promised by the caller. After `obx_start` this thread holds the lock, even if a
    // module raised. The exception is live while it is described, because nothing is allocated in
    // between.
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
        // While other threads have uses, they may hold the lock for a long time.
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
        thread::sleep(Duration::from_millis(1)); // the end of a use sends no notification
    }
}

/// How long a shutdown waits for idle workers of pools to end. This takes less than a millisecond,
/// unless OCaml code made threads in their domains. A worker with OCaml threads stays, as do these
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
    // The lock and the use are never released. The use is for `at_exit` functions that call
    // exported functions, and for other threads and domains whose OCaml code does so while
    // `at_exit` functions wait.
    std::mem::forget(acquired);
    // SAFETY: this thread holds the lock, and has no token.
    unsafe { workers.wait_until(Instant::now() + WORKERS_MAY_TAKE) };
    #[cfg(feature = "debug-checks")]
    ffi::report(&sys::leak_report());
    // SAFETY: this thread holds the lock, and has no token. Without other domains, no root is read
    // and no collector runs after `boxroot_teardown`: other threads with a token, which OCaml
    // called meanwhile, have released the lock and never get it back. With other domains, no
    // collection ends after `close`, because it would need this thread.
    unsafe {
        ffi::obx_shut_down();
        if ffi::obx_other_domains() == 0 {
            sys::boxroot_teardown();
            sys::uses::runtime_gone();
        } else {
            // An `at_exit` function has left a domain running, or a worker of a pool has not ended.
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
/// busy.runtime.shutdown()?; // now nothing uses it
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

/// The conversion drops the runtime, which cannot be shut down afterwards.
impl From<Busy> for Error {
    fn from(busy: Busy) -> Error {
        Error::Shutdown(busy.error)
    }
}
