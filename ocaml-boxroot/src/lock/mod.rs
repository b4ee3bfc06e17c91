#[cfg(any(feature = "startup", doc))] // the documentation links to it
mod runtime;
mod waiting;

#[cfg(any(feature = "startup", doc))]
pub use runtime::{Builder, Busy, Runtime};
pub use waiting::{CondvarExt, JoinHandleExt, MutexExt, OnceLockExt, RwLockExt};

use crate::{ffi, Error};
use ocaml_boxroot_sys::{self as sys, token, uses};
use std::any::Any;
use std::fmt;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};

/// Proof that this thread holds the lock of its OCaml domain.
///
/// A value of this type is called a *token*. Programs only see references to tokens:
///
/// * `&DomainLock`: the garbage collector does not run. This is enough to create, read, change and
///   delete roots.
/// * `&mut DomainLock`: the garbage collector may run. This is needed to allocate in the OCaml heap, to
///   call OCaml, and to [release](DomainLock::release) the lock. Using the token in this way ends the
///   life of every [`Value`](crate::Value) that was obtained under it.
///
/// A token comes from [`attach`](DomainLock::attach) on a Rust thread, from [`export!`](crate::export!)
/// or [`enter`](DomainLock::enter) in a function that OCaml calls, and from
/// [`assume_held`](DomainLock::assume_held) where other code holds the lock. It is neither [`Send`] nor
/// [`Sync`]:
///
/// ```compile_fail
/// # use ocaml_boxroot::DomainLock;
/// fn is_send<T: Send>() {}
/// is_send::<&DomainLock>();
/// ```
pub struct DomainLock {
    domain: token::Domain,
    _not_send: PhantomData<*mut ()>,
}

impl fmt::Debug for DomainLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DomainLock")
    }
}

/// One use of the runtime (`ocaml_boxroot_sys::uses`). Invariant: while it exists, `Runtime::shutdown` fails.
struct Use {
    /// A calling frame of this thread has a use, too: so OCaml knows this thread.
    is_nested: bool,
    _not_send: PhantomData<*mut ()>,
}

impl Use {
    /// For a thread that holds the lock.
    fn new() -> Result<Use, Error> {
        // SAFETY: OCaml knows this thread, which holds the lock; where `read_if_held` is wrong about that, it ends the
        // use at once.
        Use::begun(unsafe { uses::begin() })
    }

    /// For a thread that takes the lock next. An error if it cannot, for instance because it holds the lock.
    #[inline]
    fn to_lock() -> Result<Use, Error> {
        // SAFETY: no other use begins on this thread before it holds the lock, or ends this use because it cannot
        // take it.
        Use::begun(unsafe { uses::begin_to_lock() })
    }

    #[inline]
    fn begun(begun: Result<bool, uses::Refused>) -> Result<Use, Error> {
        match begun {
            Ok(is_nested) => Ok(Use { is_nested, _not_send: PhantomData }),
            Err(refused) => Err(refusal(refused)),
        }
    }
}

#[cold]
fn refusal(refused: uses::Refused) -> Error {
    match refused {
        uses::Refused::Down => Error::TornDown,
        uses::Refused::Forked => Error::Forked,
        uses::Refused::AlreadyHeld => Error::AlreadyHeld,
        uses::Refused::Ended => Error::ThreadNotRegistered,
        _ => match Error::last() {
            // Boxroot was set up since.
            Error::LockNotHeld | Error::OutOfMemory => Error::NotSetup,
            error => error,
        },
    }
}

impl Drop for Use {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this use began on this thread (a `Use` is not Send).
        unsafe { uses::end() }
    }
}

/// Sets boxroot up, if that was not done yet. Before that, while no other thread can attach, asks the runtime what
/// OCaml 4 answers only under the lock.
///
/// # Safety
///
/// This thread holds the lock of a started runtime.
pub(crate) unsafe fn set_up() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.load(Ordering::Acquire) {
        return;
    }
    // SAFETY: this thread holds the lock of a started runtime (caller).
    let is_set_up = unsafe {
        ffi::obx_look_for_threads();
        ffi::obx_has_stack(); // the main thread looks for its own while there are file descriptors for that
        ffi::obx_keep_heap();
        sys::boxroot_setup()
    };
    // If setting up failed, `DomainLock::new` returns the error.
    DONE.store(is_set_up, Ordering::Release);
    #[cfg(feature = "startup")]
    runtime::was_set_up();
}

/// Holds the lock and a use. Dropping it, also in a panic, releases the lock and ends the use.
pub(crate) struct Acquired {
    _use: Use,
}

impl Acquired {
    /// Waits for the lock.
    #[inline]
    pub(crate) fn new() -> Result<Acquired, Error> {
        let used = Use::to_lock()?;
        if used.is_nested {
            // SAFETY: this thread does not hold the lock (`to_lock`), OCaml knows it, because a calling frame of it has
            // a use, and the use keeps the runtime up.
            unsafe { ffi::caml_leave_blocking_section() };
            return Ok(Acquired { _use: used });
        }
        // SAFETY: this thread does not hold the lock (`to_lock`), and the use keeps the runtime up.
        match unsafe { ffi::obx_acquire() } {
            0 => Ok(Acquired { _use: used }),
            ffi::NO_THREADS => Err(Error::SystemThreadsMissing),
            _ => Err(Error::ThreadNotRegistered),
        }
    }
}

impl Drop for Acquired {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this thread has held the lock since `new`.
        unsafe { ffi::caml_enter_blocking_section_no_pending() }
    }
}

impl DomainLock {
    /// The token for a thread that holds the lock.
    ///
    /// # Safety
    ///
    /// This thread holds the lock for as long as the token lives, no root scan is running, and no
    /// other token of this thread is used meanwhile.
    #[inline]
    pub(crate) unsafe fn new() -> Result<DomainLock, Error> {
        // SAFETY: the lock is held (caller).
        let domain = unsafe { token::attach() }.ok_or_else(Error::last)?;
        Ok(DomainLock { domain, _not_send: PhantomData })
    }

    /// Waits for the lock, takes it, calls `f`, and releases the lock, also if `f` panics.
    ///
    /// Any thread may call this, also the one that started the runtime. On OCaml 5, Rust threads attach to
    /// the first domain. The first call on a thread registers the thread with OCaml. A thread does not wait
    /// for the lock when it ends: its registration stays, and the next new thread takes it over. So OCaml's
    /// `Thread.self ()` may be the same for threads that did not live at the same time. On OCaml 4, if a thread
    /// has no registration to take over, registering it runs OCaml's signal handlers; an exception that one
    /// of them raises there ends the process.
    ///
    /// If `f` waits for another thread that may need OCaml, it should [`release`](DomainLock::release) the lock
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// [`AlreadyHeld`](Error::AlreadyHeld) if this thread holds the lock already, for instance
    /// in a callback or in a finaliser; [`NotSetup`](Error::NotSetup) before the runtime is
    /// started; [`TornDown`](Error::TornDown) after it was shut down; [`Forked`](Error::Forked) in a child
    /// process that was forked without the lock, or while other domains ran;
    /// [`SystemThreadsMissing`](Error::SystemThreadsMissing) and
    /// [`ThreadNotRegistered`](Error::ThreadNotRegistered) if the thread cannot be registered, the latter
    /// also if this was the thread of a domain that has ended;
    /// [`OutOfMemory`](Error::OutOfMemory); [`Invalid`](Error::Invalid).
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{Boxroot, DomainLock, Runtime, Value};
    ///
    /// let runtime = Runtime::start()?;
    /// let answer = DomainLock::attach(|lock| Boxroot::new(lock, Value::int(42)))?;
    /// std::thread::spawn(move || {
    ///     DomainLock::attach(|lock| assert_eq!(answer.get(lock).to_int(), 42))
    /// })
    /// .join()
    /// .unwrap()?;
    /// # Ok::<(), ocaml_boxroot::Error>(())
    /// ```
    pub fn attach<R>(f: impl FnOnce(&mut DomainLock) -> R) -> Result<R, Error> {
        let _acquired = Acquired::new()?;
        // SAFETY: the lock is held until `_acquired` is dropped, which is after the token was dropped.
        // This thread did not hold the lock before, so no other token of it is in use.
        let mut lock = unsafe { DomainLock::new() }?;
        Ok(f(&mut lock))
    }

    /// Releases the lock while `f` runs, so that other threads can run OCaml code, and waits for
    /// it afterwards, also if `f` panics. OCaml's signal handlers do not run here.
    ///
    /// If `f` forks the process without the lock, the child cannot go on after `f`, because it cannot take the
    /// lock: it is aborted when `f` returns.
    ///
    /// ```compile_fail
    /// # use ocaml_boxroot::{Boxroot, DomainLock};
    /// fn wrong(lock: &mut DomainLock, root: &Boxroot<()>) {
    ///     let value = root.get(lock);
    ///     lock.release(|| ());
    ///     Boxroot::new(lock, value); // the value may have moved
    /// }
    /// ```
    pub fn release<R>(&mut self, f: impl FnOnce() -> R) -> R {
        struct Reacquire;
        impl Drop for Reacquire {
            fn drop(&mut self) {
                if uses::is_forked() {
                    let _ = writeln!(io::stderr(), "boxroot: {}", Error::Forked);
                    std::process::abort();
                }
                // SAFETY: `release` gave up the lock on this thread, which OCaml still knows.
                unsafe { ffi::caml_leave_blocking_section() }
            }
        }
        // SAFETY: the token proves that the lock is held. It is borrowed mutably, so that the token, and
        // values that live under it, are not used before `Reacquire` takes the lock again.
        unsafe { ffi::caml_enter_blocking_section_no_pending() }
        let _reacquire = Reacquire;
        f()
    }

    /// Whether this thread holds the lock of an OCaml domain. `false` after the runtime was shut
    /// down, and on OCaml 4 before boxroot was set up. It may be `true` in a thread-local destructor of a thread of OCaml's
    /// that does not hold the lock: on OCaml 4 of one that `Thread.create` made, if boxroot does not recognise the `Thread`
    /// module, or if memory was short; on OCaml 5 of one that has run finalisers for a domain that waited.
    pub fn is_held() -> bool {
        sys::status() != sys::Status::ToreDown
            && matches!(sys::lock_state(), sys::LockState::Held | sys::LockState::Uncertain)
    }

    /// Runs `f` with a token if this thread certainly holds the lock and no root scan is running; else returns
    /// `None`. `f` must not read the OCaml heap, because this may be called in a finaliser.
    pub(crate) fn read_if_held<R>(f: impl FnOnce(&DomainLock) -> R) -> Option<R> {
        if !DomainLock::is_held() {
            return None;
        }
        // A use of a calling frame is certain to hold the lock. Without one, `is_held` may be wrong: on OCaml 4,
        // this may be a thread-local destructor of a thread that OCaml made.
        let _used = Use::new().ok().filter(|used| used.is_nested)?;
        // SAFETY: the lock is held while `f` runs, because a shared token cannot release it. Other tokens of this
        // thread are in calling frames, which wait for `f`.
        Some(f(&unsafe { DomainLock::new() }.ok()?))
    }

    /// The body of an `extern "C"` function that OCaml calls: calls `f` with a token. The caller passes the
    /// result to `ocaml_boxroot_finish`, a C function of this crate, which raises it if it is an
    /// exception, and else returns it. If `f` panics, or there can be no token (for the errors of
    /// [`assume_held`](DomainLock::assume_held)), the result is the exception `Failure` with the message.
    /// [`export!`](crate::export!) does all of this.
    ///
    /// # Safety
    ///
    /// OCaml called this function, as an `external` without `[@@noalloc]`, and not as a finaliser of a custom block; the
    /// result goes to `ocaml_boxroot_finish`. `f` returns a valid value, or an exception that is encoded as in the results of the
    /// `_exn` functions of OCaml's C interface.
    pub unsafe fn enter(f: impl FnOnce(&mut DomainLock) -> sys::Value) -> sys::Value {
        let result = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: OCaml called this function (caller), so the lock is held until it returns. If a calling
            // frame has a token, it was borrowed as `&mut` by the function that called OCaml.
            unsafe { DomainLock::assume_held(f) }
        }));
        let message = match result {
            Ok(Ok(value)) => return value,
            Ok(Err(error)) => error.to_string(),
            Err(payload) => panic_message(payload),
        };
        // SAFETY: the lock is held, because OCaml called this function (caller). The token is gone, and with it
        // all unrooted values.
        unsafe { failure(&message) }
    }

    /// Calls `f` with a token, in code that holds the lock by other means, such as a library that tracks it in a
    /// way of its own. The lock stays held, also if `f` panics.
    ///
    /// # Errors
    ///
    /// [`TornDown`](Error::TornDown), [`Forked`](Error::Forked), [`OutOfMemory`](Error::OutOfMemory) and
    /// [`Invalid`](Error::Invalid), as [`attach`](DomainLock::attach).
    ///
    /// # Safety
    ///
    /// This thread holds the lock of its domain. This is not a part of a collection: no finaliser of a custom block, and
    /// no root scan. No other token of this thread is used before `f` returns. No [`Value`](crate::Value) that was obtained before is
    /// used afterwards, because the collector may have moved it; that also holds for raw values.
    pub unsafe fn assume_held<R>(f: impl FnOnce(&mut DomainLock) -> R) -> Result<R, Error> {
        // SAFETY: the lock is held (caller). On OCaml 4 this cannot be checked before boxroot is set up.
        unsafe { set_up() };
        let _used = Use::new()?;
        // SAFETY: this thread holds the lock until `f` returns, no collection is running, and no other token of this
        // thread is used meanwhile (caller).
        let mut lock = unsafe { DomainLock::new() }?;
        Ok(f(&mut lock))
    }

    /// The allocator of this domain.
    #[inline(always)]
    pub(crate) fn domain(&self) -> token::Domain {
        self.domain
    }
}

/// The message of a panic. Drops the payload. If that panics, too, the second payload is leaked.
fn panic_message(payload: Box<dyn Any + Send>) -> String {
    let message = match (payload.downcast_ref::<String>(), payload.downcast_ref::<&str>()) {
        (Some(message), _) => message.clone(),
        (None, Some(message)) => (*message).to_string(),
        (None, None) => "a Rust function panicked".to_string(),
    };
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(another);
    }
    message
}

/// The result of a body that failed: OCaml will see the exception `Failure message`.
///
/// # Safety
///
/// This thread holds the lock, and uses no unrooted value afterwards.
pub(crate) unsafe fn failure(message: &str) -> sys::Value {
    // SAFETY: the lock is held, and the collector may run, because no unrooted value is used afterwards (caller).
    unsafe { ffi::obx_failure(message.as_ptr().cast(), message.len()) }
}

#[cfg(all(test, feature = "link-runtime"))]
mod tests {
    use super::*;

    /// The library was set up after it refused, and before the reason was asked for.
    #[test]
    fn refused_before_a_start_that_is_over() {
        crate::Runtime::start().unwrap();
        assert_eq!(refusal(uses::Refused::NotRunning), Error::NotSetup);
        DomainLock::attach(|_| assert_eq!(refusal(uses::Refused::NotRunning), Error::NotSetup))
            .unwrap();
    }
}
