use crate::{ffi, lock, DomainLock, Error};
use ocaml_boxroot_sys as sys;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// An OCaml runtime embedded in this program. It holds the lock of its first domain.
///
/// A process can start one runtime, once. Other threads can use OCaml through
/// [`DomainLock::attach`] while this thread is in [`DomainLock::release`].
///
/// Dropping a `Runtime` shuts it down, unless other threads use it: then it stays up until the
/// process ends. [`shutdown`](Runtime::shutdown) reports that.
///
/// # Examples
///
/// ```
/// let mut runtime = ocaml_boxroot::Runtime::start()?;
/// let (hello, _) = runtime.lock().alloc_string("hello")?;
/// assert_eq!(hello.to_text(), "hello");
/// runtime.shutdown().map_err(|busy| busy.error)?;
/// # Ok::<(), ocaml_boxroot::Error>(())
/// ```
pub struct Runtime {
    lock: DomainLock,
}

impl Runtime {
    /// Starts the runtime, which runs the initialisation of the OCaml modules that are linked
    /// into the program.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyStarted`] the second time, and in a program that OCaml started;
    /// [`Error::StartupException`] if a module raised an exception; [`Error::OutOfMemory`]. After
    /// the last two the process holds a runtime that nobody can use.
    pub fn start() -> Result<Runtime, Error> {
        static STARTED: AtomicBool = AtomicBool::new(false);
        // SAFETY: no precondition.
        let is_started = unsafe { ffi::obx_is_started() } != 0;
        if is_started
            || sys::boxroot_status() != sys::Status::NotSetup
            || STARTED.swap(true, Ordering::AcqRel)
        {
            return Err(Error::AlreadyStarted);
        }
        let arguments = [c"ocaml-boxroot".as_ptr(), std::ptr::null()];
        // SAFETY: the first start in this process; the arguments are C strings, and the last
        // one is NULL.
        let result = unsafe { ffi::caml_startup_exn(arguments.as_ptr()) };
        if ffi::is_exception(result) {
            return Err(Error::StartupException);
        }
        // SAFETY: starting the runtime left the lock held.
        if !unsafe { lock::set_up() } {
            return Err(Error::last());
        }
        lock::set_known();
        // SAFETY: the lock is held, and only `DomainLock::release` gives it up for a while;
        // there is no other token.
        Ok(Runtime { lock: unsafe { DomainLock::new() }? })
    }

    /// The token of the thread that started the runtime.
    ///
    /// # Panics
    ///
    /// If the lock is released: in a thread-local destructor that runs because the process ends
    /// in [`DomainLock::release`].
    pub fn lock(&mut self) -> &mut DomainLock {
        assert!(DomainLock::is_held(), "boxroot: {}", Error::LockNotHeld);
        &mut self.lock
    }

    /// Shuts the runtime down: runs OCaml's `at_exit` functions, and frees the OCaml heap.
    /// Live [`Boxroot`](crate::Boxroot)s may still be dropped, on any thread.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] while other threads use the runtime or are registered with it, or other
    /// domains run; a thread that attached once is registered until it ends.
    /// [`Error::LockNotHeld`] where [`lock`](Runtime::lock) panics. The runtime comes back in the
    /// error.
    pub fn shutdown(self) -> Result<(), Busy> {
        let runtime = std::mem::ManuallyDrop::new(self);
        runtime
            .shut_down()
            .map_err(|error| Busy { error, runtime: std::mem::ManuallyDrop::into_inner(runtime) })
    }

    fn shut_down(&self) -> Result<(), Error> {
        if !DomainLock::is_held() {
            return Err(Error::LockNotHeld);
        }
        // SAFETY: no precondition.
        let uses = unsafe { ffi::obx_other_domains() };
        if uses != 0 {
            return Err(Error::Busy { uses });
        }
        lock::forbid_uses()?;
        #[cfg(feature = "debug-checks")]
        eprint!("{}", sys::leak_report());
        // SAFETY: nobody uses the runtime, or will (`forbid_uses`); this thread holds the lock
        // (checked, because `release` may be among the frames that a process leaves when it ends);
        // afterwards `self` is gone, and with it the last token. No root can be read without a
        // token, so none is after `boxroot_teardown`.
        unsafe {
            ffi::caml_shutdown();
            sys::boxroot_teardown();
        }
        Ok(())
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Busy, or the process ends: the runtime stays up. Nobody can use this token any more.
        let _ = self.shut_down();
    }
}

/// A runtime that could not be shut down.
pub struct Busy {
    /// [`Error::Busy`] or [`Error::LockNotHeld`].
    pub error: Error,
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
