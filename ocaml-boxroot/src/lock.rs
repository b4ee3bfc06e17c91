use crate::{ffi, Error, Value};
use ocaml_boxroot_sys::{self as sys, token};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::c_char;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

/// Proof that this thread holds the lock of its OCaml domain.
///
/// One only ever sees a reference to a token:
///
/// * `&DomainLock`: the garbage collector does not run. Enough to create, read, change and
///   delete roots.
/// * `&mut DomainLock`: the garbage collector may run. Needed to allocate in the OCaml heap, to
///   call OCaml, and to [release](DomainLock::release) the lock. It ends the life of every
///   [`Value`] that was obtained under the token.
///
/// A token comes from [`attach`](DomainLock::attach) (on a thread of Rust's), from
/// [`enter`](DomainLock::enter) (in a function that OCaml calls), or from a `Runtime`. It is
/// neither [`Send`] nor [`Sync`]:
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

/// Uses of the runtime that forbid its shutdown: threads that we registered, and functions that
/// OCaml called. `DOWN` once it was shut down.
static USES: AtomicUsize = AtomicUsize::new(0);
const DOWN: usize = 1 << (usize::BITS - 1);

/// One use, counted. Invariant: while a `Use` exists the runtime is not shut down by us.
struct Use;

impl Use {
    fn new() -> Result<Use, Error> {
        if USES.fetch_add(1, Ordering::Acquire) & DOWN != 0 {
            USES.fetch_sub(1, Ordering::Relaxed);
            return Err(Error::TornDown);
        }
        Ok(Use)
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        USES.fetch_sub(1, Ordering::Release);
    }
}

/// Forbids new uses, for good, if there are none.
#[cfg(feature = "startup")]
pub(crate) fn forbid_uses() -> Result<(), Error> {
    match USES.compare_exchange(0, DOWN, Ordering::AcqRel, Ordering::Relaxed) {
        Ok(_) => Ok(()),
        Err(uses) => Err(Error::Busy { uses }),
    }
}

thread_local! {
    /// The runtime knows this thread: we registered it, it started the runtime, or OCaml
    /// called us on it. It stays up then: the first and the last case have a `Use`, and the
    /// thread that started the runtime is the one that can shut it down, outside of any token.
    static KNOWN: Cell<bool> = const { Cell::new(false) };
    /// Unregisters this thread at its end, if we registered it.
    static REGISTRATION: RefCell<Option<Registration>> = const { RefCell::new(None) };
    /// The message of a panic on its way to an OCaml exception.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

struct Registration(#[allow(dead_code)] Use);

impl Drop for Registration {
    fn drop(&mut self) {
        KNOWN.set(false);
        // A process that ends under the lock runs this under the frames that hold it; they do not
        // go on, and nobody gets the lock any more.
        if sys::boxroot_status() != sys::Status::ToreDown && !DomainLock::is_held() {
            // SAFETY: we registered this thread, it does not hold the lock (just checked), and the
            // `Use` keeps the runtime up.
            unsafe { ffi::obx_unregister_thread() }
        }
    }
}

/// Sets boxroot up, if nobody did. Before another thread can attach, asks what OCaml 4 answers under
/// the lock only.
///
/// # Safety
///
/// This thread holds the lock of a started runtime.
pub(crate) unsafe fn set_up() -> bool {
    has_threads();
    // SAFETY: the lock is held (caller).
    unsafe { sys::boxroot_setup() }
}

/// Whether the OCaml program has the `Thread` module.
fn has_threads() -> bool {
    static HAS_THREADS: OnceLock<bool> = OnceLock::new();
    // SAFETY: the runtime was started (`set_up`, or boxroot was set up); under the lock the first
    // time, unless some other library set boxroot up.
    *HAS_THREADS.get_or_init(|| unsafe { ffi::obx_has_threads() } != 0)
}

/// Makes this thread known to the runtime.
fn register() -> Result<(), Error> {
    if KNOWN.get() {
        return Ok(());
    }
    if !has_threads() {
        return Err(Error::SystemThreadsMissing);
    }
    REGISTRATION
        .try_with(|registration| {
            let used = Use::new()?;
            // SAFETY: systhreads are there, and this thread does not hold the lock.
            if unsafe { ffi::obx_register_thread() } == 0 {
                return Err(Error::ThreadNotRegistered);
            }
            *registration.borrow_mut() = Some(Registration(used));
            KNOWN.set(true);
            Ok(())
        })
        .unwrap_or(Err(Error::ThreadNotRegistered))
}

/// This thread started the runtime.
#[cfg(feature = "startup")]
pub(crate) fn set_known() {
    KNOWN.set(true);
}

/// Holds the lock; gives it back when dropped, also by a panic.
struct Acquired;

impl Acquired {
    fn new() -> Acquired {
        // SAFETY: this thread is known to the runtime and does not hold the lock (caller). The
        // runtime stays up, see `KNOWN`.
        unsafe { ffi::caml_leave_blocking_section() }
        Acquired
    }
}

impl Drop for Acquired {
    fn drop(&mut self) {
        // SAFETY: this thread holds the lock since `new`.
        unsafe { ffi::caml_enter_blocking_section_no_pending() }
    }
}

impl DomainLock {
    /// The token for a thread that holds the lock.
    ///
    /// # Safety
    ///
    /// The lock is held for as long as the token lives, no root scan is running, and no
    /// other token of this thread is used meanwhile.
    pub(crate) unsafe fn new() -> Result<DomainLock, Error> {
        // SAFETY: the lock is held (caller).
        let domain = unsafe { token::attach() }.ok_or_else(Error::last)?;
        Ok(DomainLock { domain, _not_send: PhantomData })
    }

    /// Takes the lock, calls `f`, and releases the lock, also if `f` panics. The first time on
    /// a thread, registers the thread with OCaml, until it ends.
    ///
    /// Any thread may call this. On OCaml 5, threads attach to the first domain. A registered
    /// thread takes the lock once more when it ends, to unregister: join it inside
    /// [`release`](DomainLock::release), not while holding the lock. On OCaml 4, registering runs
    /// OCaml's signal handlers; an exception that one raises there ends the process.
    ///
    /// # Errors
    ///
    /// [`AlreadyHeld`](Error::AlreadyHeld) if this thread holds the lock already, for instance
    /// in a callback or in a finaliser; [`NotSetup`](Error::NotSetup) before the runtime is
    /// started; [`TornDown`](Error::TornDown) after it was shut down;
    /// [`SystemThreadsMissing`](Error::SystemThreadsMissing) and
    /// [`ThreadNotRegistered`](Error::ThreadNotRegistered) if the thread cannot be registered;
    /// [`OutOfMemory`](Error::OutOfMemory), [`Invalid`](Error::Invalid).
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{Boxroot, DomainLock, Runtime, Value};
    ///
    /// let mut runtime = Runtime::start()?;
    /// let answer = Boxroot::new(runtime.lock(), Value::int(42));
    /// runtime.lock().release(|| {
    ///     std::thread::spawn(move || {
    ///         DomainLock::attach(|lock| assert_eq!(answer.get(lock).to_int(), 42))
    ///     })
    ///     .join()
    ///     .unwrap()
    /// })?;
    /// # Ok::<(), ocaml_boxroot::Error>(())
    /// ```
    pub fn attach<R>(f: impl FnOnce(&mut DomainLock) -> R) -> Result<R, Error> {
        match (sys::boxroot_status(), sys::lock_state()) {
            (sys::Status::ToreDown, _) => return Err(Error::TornDown),
            (_, sys::LockState::Held | sys::LockState::Uncertain) => {
                return Err(Error::AlreadyHeld)
            }
            (_, sys::LockState::Ended) => return Err(Error::ThreadNotRegistered),
            (sys::Status::Running, sys::LockState::NotHeld) => {}
            (_, sys::LockState::NotHeld) => return Err(Error::last()),
        }
        register()?;
        let _acquired = Acquired::new();
        // SAFETY: the lock is held until `_acquired` is dropped, which is after the token.
        // This thread did not hold the lock before, so no other token is in use.
        let mut lock = unsafe { DomainLock::new() }?;
        Ok(f(&mut lock))
    }

    /// Releases the lock while `f` runs, so that other threads can run OCaml code, and takes
    /// it again, also if `f` panics. Signal handlers do not run here.
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
                // SAFETY: this thread released the lock below and is still known.
                unsafe { ffi::caml_leave_blocking_section() }
            }
        }
        // SAFETY: the token proves that the lock is held; nobody can use the token, or a
        // value that lives under it, before `Reacquire` is dropped.
        unsafe { ffi::caml_enter_blocking_section_no_pending() }
        let _reacquire = Reacquire;
        f()
    }

    /// Whether this thread holds the lock of an OCaml domain. `false` after the runtime was shut
    /// down, and on OCaml 4 before boxroot was set up. On OCaml 4 also `true`, which it should not be, in a
    /// thread-local destructor of a thread that `Thread.create` made.
    pub fn is_held() -> bool {
        sys::boxroot_status() != sys::Status::ToreDown
            && matches!(sys::lock_state(), sys::LockState::Held | sys::LockState::Uncertain)
    }

    /// The body of an `extern "C"` function that OCaml calls: calls `f` with a token. What it
    /// returns goes to `ocaml_boxroot_finish`, a C function of this crate, which raises it if it is
    /// an exception, and else returns it. If `f` panics, OCaml sees the exception `Failure` with the
    /// panic's message. [`export!`](crate::export!) does all of this.
    ///
    /// # Safety
    ///
    /// OCaml called this function, which is not a finaliser of a custom block; the result goes to
    /// `ocaml_boxroot_finish`. `f` returns a valid value, or an exception encoded as the `_exn`
    /// functions of OCaml's C interface do.
    pub unsafe fn enter(f: impl FnOnce(&mut DomainLock) -> sys::Value) -> sys::Value {
        /// OCaml knows this thread while it runs code that OCaml called, maybe not later.
        struct RestoreKnown(bool);
        impl Drop for RestoreKnown {
            fn drop(&mut self) {
                KNOWN.set(self.0);
            }
        }
        let result = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: OCaml called, so the lock is held; also on OCaml 4, where this cannot
            // be checked before setup.
            let _is_set_up = unsafe { set_up() };
            let _used = Use::new()?;
            let _restore = RestoreKnown(KNOWN.replace(true));
            // SAFETY: the lock is held until OCaml gets control back. A token that an outer
            // frame has was lent, as `&mut`, to whatever called OCaml.
            let mut lock = unsafe { DomainLock::new() }?;
            Ok::<_, Error>(f(&mut lock))
        }));
        let message = match result {
            Ok(Ok(value)) => return value,
            Ok(Err(error)) => error.to_string(),
            Err(payload) => panic_message(payload),
        };
        failure(message)
    }

    /// A token for code that holds the lock by other means, such as a library that tracks it in a
    /// way of its own.
    ///
    /// # Errors
    ///
    /// As [`attach`](DomainLock::attach), when boxroot cannot be set up.
    ///
    /// # Safety
    ///
    /// This thread holds the lock of its domain for all of `'a`, no root scan is running, and no
    /// other token of this thread is used in `'a`.
    pub unsafe fn assume_held<'a>() -> Result<AssumedLock<'a>, Error> {
        // SAFETY: the lock is held, also where this cannot be checked before setup (caller).
        let _is_set_up = unsafe { set_up() };
        // SAFETY: as promised by the caller.
        Ok(AssumedLock { lock: unsafe { DomainLock::new() }?, _life: PhantomData })
    }

    /// Runs `f`, which may allocate in the OCaml heap, and gives its result the lifetime of the
    /// token. Also returns the token, shared: the result is alive for as long as it is used.
    ///
    /// # Safety
    ///
    /// `f` returns a valid OCaml value that is a `T`. It does not raise an OCaml exception, does
    /// not release the lock, and does not use another token.
    pub unsafe fn alloc<'l, T: ?Sized>(
        &'l mut self,
        f: impl FnOnce() -> sys::Value,
    ) -> (Value<'l, T>, &'l DomainLock) {
        let raw = f();
        // SAFETY: valid now (caller), and the token is borrowed, shared, for 'l.
        (unsafe { Value::from_raw(raw) }, self)
    }

    /// The allocator of this domain.
    #[inline(always)]
    pub(crate) fn domain(&self) -> token::Domain {
        self.domain
    }
}

/// A token from [`DomainLock::assume_held`], to be used through a reference.
pub struct AssumedLock<'a> {
    lock: DomainLock,
    _life: PhantomData<&'a mut DomainLock>,
}

impl std::ops::Deref for AssumedLock<'_> {
    type Target = DomainLock;

    fn deref(&self) -> &DomainLock {
        &self.lock
    }
}

impl std::ops::DerefMut for AssumedLock<'_> {
    fn deref_mut(&mut self) -> &mut DomainLock {
        &mut self.lock
    }
}

/// The message of a panic. A payload that panics when it is dropped is dropped all the same.
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
pub(crate) fn failure(message: String) -> sys::Value {
    /// An encoded exception 0.
    const FAILED: sys::Value = 2;
    let _ = PANIC.try_with(|panic| *panic.borrow_mut() = message);
    FAILED
}

/// For `shim.c`: copies the last panic's message on this thread, cut to fit and ended by NUL.
#[no_mangle]
unsafe extern "C" fn ocaml_boxroot_take_panic(buffer: *mut c_char, size: usize) {
    let message = PANIC.try_with(RefCell::take).unwrap_or_default();
    let bytes = message.as_bytes();
    let length = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len()).min(size - 1);
    // SAFETY: `buffer` has `size` bytes (shim.c), and `length` is less.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), buffer, length);
        *buffer.add(length) = 0;
    }
}
