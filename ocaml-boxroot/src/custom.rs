//! Values of Rust that OCaml owns.

use crate::marker::Uninhabited;
use crate::{ffi, DomainLock, Error, Value};
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// The type of a value of Rust that OCaml owns, as an abstract type there. Its finaliser drops the `T`.
///
/// * OCaml may drop it on any thread that happens to run the collector, in the middle of its work: `T` is
///   [`Send`]. Its `drop` cannot use OCaml, except to drop roots ([`attach`](DomainLock::attach)
///   answers [`AlreadyHeld`](Error::AlreadyHeld)), and a panic in it ends there. It must not wait for a
///   lock that this thread holds while it may run the collector, or another one while it waits for OCaml.
/// * Rust reaches it as `&T`, from any thread: `T` is [`Sync`], with a `Mutex` where it changes.
/// * OCaml cannot compare or marshal it: these raise exceptions. To `Hashtbl.hash` all are alike.
/// * What is left when the runtime is shut down is not always dropped: OCaml 5 keeps it.
///
/// Roots inside `T` are fine. But a `T` that owns a root of itself, or of something that refers to it, is never dropped.
///
/// Covariant in `T`, like an [`Arc`](std::sync::Arc).
///
/// ```
/// use ocaml_boxroot::{Boxroot, OCamlBox};
/// use std::sync::Mutex;
///
/// # let _ocaml = ocaml_boxroot::Runtime::start()?;
/// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
/// let (counter, lock) = lock.alloc_box(Mutex::new(41))?;
/// *counter.get().lock().unwrap() += 1;
/// let counter: Boxroot<OCamlBox<Mutex<i32>>> = Boxroot::new(lock, counter); // or give it to OCaml
/// assert_eq!(*counter.get(lock).get().lock().unwrap(), 42);
/// # Ok(()) })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OCamlBox<T>(PhantomData<T>, Uninhabited);

impl<T> fmt::Debug for OCamlBox<T> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {}
    }
}

/// What a custom block points to. The block owns it.
#[repr(C)]
struct Held<T> {
    /// Drops the `Held<T>`, which is given without its `T`.
    drop: unsafe fn(*mut Held<()>),
    value: T,
}

impl DomainLock {
    /// Gives a value to OCaml, as a block that owns it. The collector may run.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn alloc_box<'l, T: Send + 'static>(
        &'l mut self,
        value: T,
    ) -> Result<(Value<'l, OCamlBox<T>>, &'l DomainLock), Error> {
        let held = Box::into_raw(Box::new(Held { drop: drop_held::<T>, value }));
        // SAFETY: the token proves that the lock is held, and is borrowed mutably. The block owns `held` from now on.
        let raw = unsafe { ffi::obx_alloc_box(held.cast(), size_of::<Held<T>>()) };
        // SAFETY: a new block of this type; the token is borrowed, shared, for 'l.
        Ok((unsafe { Value::from_raw(raw) }, self))
    }
}

impl<'l, T: Sync> Value<'l, OCamlBox<T>> {
    /// The value.
    pub fn get(self) -> &'l T {
        // SAFETY: a live block (type and lifetime) that was made by `alloc_box`; what it points to is
        // dropped by its finaliser only, and the collector does not run in 'l. Other threads read too: `T` is `Sync`.
        unsafe { &(**(self.raw() as *const *const Held<T>).add(1)).value }
    }
}

/// # Safety
///
/// `held` is a `Held<T>` from `alloc_box`, and not used again.
unsafe fn drop_held<T>(held: *mut Held<()>) {
    // SAFETY: as promised by the caller.
    drop(unsafe { Box::from_raw(held.cast::<Held<T>>()) })
}

/// For `values.c`: the finaliser. A panic in `T::drop` has been reported by the panic hook, and ends here.
#[no_mangle]
unsafe extern "C" fn ocaml_boxroot_drop(held: *mut c_void) {
    let held: *mut Held<()> = held.cast();
    // SAFETY: a `Held` of some type, whose block is dead: nobody uses it again.
    let result = catch_unwind(AssertUnwindSafe(|| unsafe { ((*held).drop)(held) }));
    if let Err(payload) = result {
        // Its own drop might panic.
        std::mem::forget(payload);
    }
}
