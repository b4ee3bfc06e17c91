//! The token, and functions that take and release the lock.

mod acquired;
mod handlers;
mod raw;
mod waiting;
mod watchdog;

pub(crate) use acquired::{set_up, Acquired, Use};
pub(crate) use handlers::below_handlers;
pub use raw::DomainLockExt;
pub use waiting::{CondvarExt, JoinHandleExt, MutexExt, OnceLockExt, RwLockExt};

use crate::{ffi, AttachError};
use ocaml_boxroot_sys::{self as sys, token, uses};
use std::fmt;
use std::marker::PhantomData;
pub(crate) use watchdog::{State, Watched};

/// Proof that this thread holds the lock of its OCaml domain.
///
/// A value of this type is called a *token*. Programs see only references to tokens:
///
/// * `&DomainLock`: the garbage collector does not run. This is enough to create, read, change and
///   delete roots.
/// * `&mut DomainLock`: the garbage collector may run. This is needed to allocate in the OCaml
///   heap, to call OCaml, and to [release](DomainLock::release) the lock. Using the token in this
///   way ends the life of every [`Value`](crate::Value) that was obtained under it.
///
/// A token comes from [`attach`](DomainLock::attach) on a Rust thread, from
/// [`export!`](crate::export!) or [`enter`](crate::raw::DomainLockExt::enter) in a function that
/// OCaml calls, and from [`assume_held`](crate::raw::DomainLockExt::assume_held) if other code took
/// the lock. It is neither [`Send`] nor [`Sync`]:
///
/// ```compile_fail
/// # use ocaml_boxroot::DomainLock;
/// fn is_send<T: Send>() {}
/// is_send::<&DomainLock>();
/// ```
#[doc(alias("OCamlRuntime", "CAMLparam", "caml_acquire_runtime_system"))]
pub struct DomainLock {
    domain: token::Domain,
    _not_send: PhantomData<*mut ()>,
}

impl fmt::Debug for DomainLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DomainLock")
    }
}

impl DomainLock {
    /// The token of a thread that has attached to this domain.
    ///
    /// # Safety
    ///
    /// This thread holds the lock for as long as the token lives, and has a use; no root scan is
    /// running, and no other token of this thread is used meanwhile.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn of(domain: token::Domain) -> DomainLock {
        DomainLock { domain, _not_send: PhantomData }
    }

    /// The token for a thread that holds the lock, and has this use.
    ///
    /// # Safety
    ///
    /// This thread holds the lock for as long as the token lives, no root scan is running, and no
    /// other token of this thread is used meanwhile.
    #[inline]
    unsafe fn new(_used: &Use) -> Result<DomainLock, AttachError> {
        // SAFETY: as promised by the caller.
        unsafe { Ok(DomainLock::of(token::attach().ok_or_else(AttachError::last)?)) }
    }

    /// Waits for the lock, takes it, calls `f`, and releases the lock, even if `f` panics. Returns
    /// the result of `f`.
    ///
    /// The error may have any type that implements `From<AttachError>`: an error of this crate,
    /// `Box<dyn Error>`, or your own. If you use `?` both inside the closure and after the call,
    /// the compiler asks for the type of the error. Then make `f` a function, or write the
    /// closure's type: `|lock| -> Result<_, Error> { … }`. If `f` cannot fail, use
    /// [`with`](DomainLock::with).
    ///
    /// Any thread may call this, including the one that started the runtime. On OCaml 5, Rust
    /// threads attach to the first domain. The first call on a thread registers the thread with
    /// OCaml. A thread does not wait for the lock when it ends: its registration stays, and the
    /// next new thread takes it over. Therefore OCaml's `Thread.self ()` may be the same for
    /// threads that did not live at the same time. `attach` does not run OCaml's signal handlers.
    ///
    /// While another thread is in [`Runtime::shutdown_within`](crate::Runtime::shutdown_within),
    /// `attach` waits until that call returns, unless it is nested in another `attach`.
    ///
    /// If `f` waits for another thread that may need OCaml, it should
    /// [`release`](DomainLock::release) the lock while it waits.
    ///
    /// In thread-local destructors, and in C's `atexit` functions, std has already removed the
    /// thread's alternate signal stack, and OCaml 5 runs its code on stacks that are too small for
    /// signal handlers. Programs that handle signals should not call OCaml there, or should first
    /// block the signals.
    ///
    /// # Errors
    ///
    /// Those of `f`, and:
    ///
    /// * [`AlreadyHeld`](crate::AttachError::AlreadyHeld) if this thread holds the lock already,
    ///   for instance in a callback;
    /// * [`InFinaliser`](crate::AttachError::InFinaliser) while OCaml drops an
    ///   [`OCamlBox`](crate::markers::OCamlBox);
    /// * [`NotSetup`](crate::AttachError::NotSetup) before the runtime is started, and
    ///   [`TornDown`](crate::AttachError::TornDown) after it was shut down;
    /// * [`NotReady`](crate::AttachError::NotReady) while the runtime starts or, if OCaml has
    ///   `main`, before OCaml has called Rust;
    /// * [`Forked`](crate::AttachError::Forked) in a child process that was forked without the
    ///   lock, or after another domain was made;
    /// * [`SystemThreadsMissing`](crate::AttachError::SystemThreadsMissing) if the program does not
    ///   link the `threads` library, and
    ///   [`ThreadNotRegistered`](crate::AttachError::ThreadNotRegistered) if OCaml cannot register
    ///   the thread, or the thread's domain has ended;
    /// * [`OutOfMemory`](crate::AttachError::OutOfMemory) and
    ///   [`Invalid`](crate::AttachError::Invalid).
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{Boxroot, ConversionError, DomainLock, OCamlInt, Runtime, Value};
    ///
    /// fn answer(lock: &mut DomainLock) -> Result<Boxroot<OCamlInt>, ConversionError> {
    ///     Boxroot::try_new(lock, Value::int(42))
    /// }
    ///
    /// let runtime = Runtime::start()?;
    /// let answer = DomainLock::attach(answer)?;
    /// let reader = std::thread::spawn(move || DomainLock::with(|lock| answer.get(lock).to_int()));
    /// assert_eq!(reader.join().unwrap()?, 42);
    /// # Ok::<(), ocaml_boxroot::Error>(())
    /// ```
    #[doc(alias(
        "caml_c_thread_register",
        "caml_acquire_runtime_system",
        "caml_leave_blocking_section",
        "with_runtime"
    ))]
    #[cfg_attr(feature = "debug-checks", track_caller)]
    pub fn attach<R, E: From<AttachError>>(
        f: impl FnOnce(&mut DomainLock) -> Result<R, E>,
    ) -> Result<R, E> {
        DomainLock::with(f)?
    }

    /// Like [`attach`](DomainLock::attach), but returns the result of `f` in an `Ok`. Use it if `f`
    /// cannot fail, or to handle its errors separately.
    ///
    /// # Errors
    ///
    /// Those of [`attach`](DomainLock::attach) itself.
    #[cfg_attr(feature = "debug-checks", track_caller)]
    pub fn with<R>(f: impl FnOnce(&mut DomainLock) -> R) -> Result<R, AttachError> {
        let (_acquired, mut lock) = DomainLock::acquire()?;
        Ok(f(&mut lock))
    }

    /// Takes the lock, and returns it with a token. Not generic, so that programs contain it only
    /// once.
    #[cfg_attr(feature = "debug-checks", track_caller)]
    fn acquire() -> Result<(Acquired, DomainLock), AttachError> {
        let acquired = Acquired::new()?;
        // SAFETY: `attach` drops the token before `acquired`. This thread did not hold the lock
        // before, so no other token of it is in use.
        let lock = unsafe { DomainLock::new(&acquired.used) }?;
        Ok((acquired, lock))
    }

    /// Releases the lock while `f` runs, so that other threads can run OCaml code, and takes it
    /// again afterwards, even if `f` panics. Does not run OCaml's signal handlers. A very short `f`
    /// does not let waiting threads in; use OCaml's `Thread.yield` for that.
    ///
    /// If `f` forks the process without the lock, the child aborts when `f` returns, because it
    /// cannot take the lock; do not daemonize in `f`. The process also aborts if `f` returns while
    /// an [`attach`](DomainLock::attach) started inside it is still active, which stackful
    /// coroutines can cause. In a destructor of thread-specific keys (`pthread_key_create`), do not
    /// resume a coroutine that waits in `f` or in an `attach`: OCaml has unregistered the thread,
    /// and the process ends with `SIGSEGV`.
    ///
    /// ```compile_fail
    /// # use ocaml_boxroot::{Boxroot, DomainLock};
    /// fn wrong(lock: &mut DomainLock, root: &Boxroot<()>) {
    ///     let value = root.get(lock);
    ///     lock.release(|| ());
    ///     Boxroot::new(lock, value); // the value may have moved
    /// }
    /// ```
    #[doc(alias(
        "caml_release_runtime_system",
        "caml_enter_blocking_section",
        "allow_threads",
        "releasing_runtime"
    ))]
    #[cfg_attr(feature = "debug-checks", track_caller)]
    pub fn release<R>(&mut self, f: impl FnOnce() -> R) -> R {
        /// The number of the use in which the lock was released.
        struct Reacquire(i32, Watched);
        impl Drop for Reacquire {
            fn drop(&mut self) {
                if !uses::go_on(self.0) {
                    cannot_go_on();
                }
                self.1.is_now(State::Waits);
                // SAFETY: `release` gave up the lock on this thread, which OCaml still knows. All
                // uses that began since have ended, so the thread does not hold the lock, and
                // OCaml's state is as `release` left it.
                unsafe { ffi::caml_leave_blocking_section() }
            }
        }
        // This token belongs to the innermost use: all uses that began since have ended, or
        // `Reacquire` would have noticed.
        let used = uses::innermost();
        let watched = Watched::new(State::HasReleased);
        // SAFETY: the token proves that the lock is held. It is borrowed mutably, so neither the
        // token nor values that live under it are used before `Reacquire` takes the lock again.
        unsafe { ffi::caml_enter_blocking_section_no_pending() }
        let _reacquire = Reacquire(used, watched);
        f()
    }

    /// Whether this thread holds the lock of an OCaml domain. Returns `false` after the runtime was
    /// shut down, and on OCaml 4 before boxroot was set up.
    ///
    /// In the thread-local destructors of a thread that OCaml made, the result may be `true`
    /// although the thread does not hold the lock. On OCaml 4, this happens on `Thread.create`
    /// threads if boxroot does not recognise the `Thread` module, or if memory was short. On OCaml
    /// 5, it happens on threads that have run finalisers for a domain that was waiting.
    pub fn is_held() -> bool {
        sys::status() != sys::Status::ToreDown
            && matches!(sys::lock_state(), sys::LockState::Held | sys::LockState::Uncertain)
    }

    /// Runs `f` with a token if this thread certainly holds the lock and no root scan is running;
    /// otherwise returns `None`. `f` must not read the OCaml heap, because this may be called in a
    /// finaliser.
    pub(crate) fn read_if_held<R>(f: impl FnOnce(&DomainLock) -> R) -> Option<R> {
        if !DomainLock::is_held() {
            return None;
        }
        // If a calling frame has a use, this thread certainly holds the lock. Otherwise `is_held`
        // may be wrong, for instance in a thread-local destructor of a thread that OCaml 4 made.
        let used = Use::new().ok().filter(Use::is_nested)?;
        // SAFETY: the lock is held while `f` runs, because a shared token cannot release it. Other
        // tokens of this thread are in calling frames, which wait for `f`.
        Some(f(&unsafe { DomainLock::new(&used) }.ok()?))
    }

    /// The allocator of this domain.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn domain(&self) -> token::Domain {
        self.domain
    }
}

/// Aborts the process if `release` cannot take the lock again.
#[cold]
fn cannot_go_on() -> ! {
    let why = if uses::is_forked() {
        &format!(
            "DomainLock::release cannot take the lock again in this process, which its closure forked: {}; or call exec or exit in the \
             child before the closure returns",
            AttachError::Forked
        )
    } else {
        "DomainLock::release ended while a DomainLock::attach inside it was still active: coroutines must end such calls in reverse order"
    };
    ffi::report(&format!("boxroot: {why}\n"));
    std::process::abort()
}
