//! Rust values that OCaml owns.

use super::form::{mismatch, Form};
use super::Invariant;
use crate::lock::below_handlers;
use crate::raw::ValueExt;
use crate::{ffi, ConversionError, DomainLock, OCamlAny, Value};
use ocaml_boxroot_sys as sys;
use std::any::TypeId;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{catch_unwind, AssertUnwindSafe};

marker! {
    /// The type of a Rust value that OCaml owns, in a custom block. In OCaml it is an abstract
    /// type. The block's finaliser drops the `T`.
    ///
    /// * The finaliser runs inside a collection, on any thread. Therefore `T` is [`Send`], and its
    ///   `drop` cannot use OCaml, except to drop roots: [`attach`](DomainLock::attach) returns
    ///   [`InFinaliser`](crate::AttachError::InFinaliser) there. A panic in `drop` does not leave
    ///   the finaliser. `drop` must not wait for a mutex that some thread holds while it waits for
    ///   OCaml's lock, or while it may run the collector: that thread may be this one.
    /// * Rust gets a `&T`, on any thread. Therefore `T` is [`Sync`]; if it has to change, use a
    ///   `Mutex`, for example.
    /// * In OCaml, to compare two of these blocks, or to marshal one, raises an exception.
    ///   `Hashtbl.hash` gives all these blocks the same hash.
    /// * Values that are left when the runtime is shut down are not dropped.
    ///
    /// Roots inside `T` are fine. But a `T` that owns a root of its own block, or of a value that
    /// refers to the block, is never dropped.
    ///
    /// A block knows the type of its value: [`try_get`](Value::try_get) finds out whether it is a
    /// `T`.
    ///
    /// ```
    /// use ocaml_boxroot::markers::OCamlBox;
    /// use ocaml_boxroot::Boxroot;
    /// use std::sync::Mutex;
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let (counter, lock) = lock.alloc_box(Mutex::new(41))?;
    /// *counter.get().lock().unwrap() += 1;
    /// // Keep it, or give it to OCaml.
    /// let counter: Boxroot<OCamlBox<Mutex<i32>>> = Boxroot::new(lock, counter);
    /// assert_eq!(*counter.get(lock).get().lock().unwrap(), 42);
    /// # Ok(()) });
    /// ```
    OCamlBox<T>(PhantomData<T>, Invariant<T>);
}

/// For generated bindings: a Rust type that implements an abstract type of OCaml. A Rust type can
/// implement this trait only once, and so only one abstract type: OCaml may know that two abstract
/// types differ, and OCaml code may rely on that.
#[diagnostic::on_unimplemented(
    message = "`{Self}` implements an OCaml type, so it must be Send, Sync and 'static"
)]
pub trait Implements: Send + Sync + 'static {}

/// The data that a custom block owns, and points to; or the owner of a bigarray's data.
#[repr(C)]
struct Held<T> {
    /// Drops the `Held<T>` that this is a part of; `drop_held::<T>`. C reads this part
    /// (`struct obx_held`).
    drop: unsafe extern "C" fn(*mut Held<()>),
    /// [`COPY`] of the library that made the block.
    copy: *const u8,
    /// The id of `T`.
    id: TypeId,
    value: T,
}

/// A `Held<T>` on the heap, which is dropped with its holder.
pub(super) struct Holder<T: 'static>(*mut Held<T>);

impl<T: 'static> Holder<T> {
    pub(super) fn new(value: T) -> Self {
        let (drop, id) = (drop_held::<T>, TypeId::of::<T>());
        Holder(Box::into_raw(Box::new(Held { drop, copy: &raw const COPY, id, value })))
    }

    /// The value. It stays in its place when the `Held` is given away.
    pub(super) fn value(&mut self) -> &mut T {
        // SAFETY: the holder owns the `Held`, and is borrowed as long.
        unsafe { &mut (*self.0).value }
    }

    /// The `Held`, which C code drops by its first part.
    pub(super) fn give(self) -> *mut c_void {
        ManuallyDrop::new(self).0.cast()
    }

    /// Takes a `Held` that was given away, and drops it.
    ///
    /// # Safety
    ///
    /// It is from `give` of a holder of this type, and is not used again.
    pub(super) unsafe fn take_back(held: *mut c_void) {
        drop(Holder::<T>(held.cast()))
    }
}

impl<T: 'static> Drop for Holder<T> {
    fn drop(&mut self) {
        // SAFETY: the `Held` is from a `Box`, and was not given away.
        drop(unsafe { Box::from_raw(self.0) })
    }
}

/// Its address tells the copies of this crate in one process apart. Two libraries (`cdylib`) may
/// have types of one id whose layouts differ, or whose values rely on statics of the library.
static COPY: u8 = 0;

impl DomainLock {
    /// Gives a value to OCaml: allocates a block that owns it. The collector may run.
    ///
    /// The collector counts the size of the `T`, and not the memory that the `T` owns. If that is
    /// much, use [`alloc_box_owning`](DomainLock::alloc_box_owning).
    ///
    /// # Errors
    ///
    /// Currently infallible: on allocation failure the process aborts.
    #[doc(alias("caml_alloc_custom", "Data_custom_val"))]
    pub fn alloc_box<'l, T: Send + 'static>(
        &'l mut self,
        value: T,
    ) -> Result<(Value<'l, OCamlBox<T>>, &'l DomainLock), ConversionError> {
        self.alloc_box_owning(value, 0)
    }

    /// As [`alloc_box`](DomainLock::alloc_box), for a value that owns `bytes` bytes on the heap.
    /// OCaml collects more often the more memory such blocks own. Without the number, OCaml takes a
    /// buffer of a megabyte for a block of a few words, and garbage of gigabytes may wait for the
    /// next collection.
    ///
    /// # Errors
    ///
    /// As [`alloc_box`](DomainLock::alloc_box).
    #[doc(alias("caml_alloc_custom_mem"))]
    pub fn alloc_box_owning<'l, T: Send + 'static>(
        &'l mut self,
        value: T,
        bytes: usize,
    ) -> Result<(Value<'l, OCamlBox<T>>, &'l DomainLock), ConversionError> {
        let held = Holder::new(value).give();
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector
        // may run. The block owns `held` from now on.
        let raw = unsafe { ffi::obx_alloc_box(held, size_of::<Held<T>>().saturating_add(bytes)) };
        // SAFETY: `raw` is a new block of this type. The collector does not run in 'l, because the
        // token is only borrowed shared.
        Ok((unsafe { Value::from_raw(raw) }, self))
    }
}

impl<T: 'static> Form for OCamlBox<T> {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        find::<T>(value).is_some()
    }
}

/// The Rust value of any value of OCaml, if that is a block of this crate with a `T`.
fn find<T: 'static>(value: Value<'_, OCamlAny>) -> Option<&T> {
    // SAFETY: the function takes any live value.
    let is_ours = unsafe { ffi::obx_is_box(value.raw()) } != 0;
    // SAFETY: the block is one of ours, just checked.
    is_ours.then(|| unsafe { downcast(value) }).flatten()
}

/// The Rust value of a block, if it is a `T` of this library.
///
/// # Safety
///
/// The block is from `alloc_box`, perhaps of another copy of this crate.
unsafe fn downcast<T: 'static>(block: Value<'_, OCamlAny>) -> Option<&T> {
    // SAFETY: the block points to a `Held` (caller), whose first parts do not depend on the type of
    // its value (`repr(C)`), and whose type `id` tells. Only the block's finaliser drops it, and
    // the collector does not run while the block's value lives.
    unsafe {
        let held = *(block.raw() as *const *const Held<()>).add(1);
        match (*held).copy == &raw const COPY && (*held).id == TypeId::of::<T>() {
            true => Some(&(*held.cast::<Held<T>>()).value),
            false => None,
        }
    }
}

impl<'l, T: Sync + 'static> Value<'l, OCamlBox<T>> {
    /// The Rust value, if this is indeed a block of this crate with a `T`; `None` for any other
    /// value of OCaml, and for a Rust value of another type.
    pub fn try_get(self) -> Option<&'l T> {
        find(self.any())
    }

    /// The Rust value.
    ///
    /// # Panics
    ///
    /// If this is a block with a Rust value of another type, because two crates of a program name
    /// different types for one type of OCaml; or if another library (`cdylib`) made it. In
    /// [builds with checks](crate#builds-with-checks), if this is not a block with a `T`.
    #[doc(alias = "Data_custom_val")]
    #[track_caller]
    pub fn get(self) -> &'l T {
        self.checked();
        // SAFETY: `self` is a block from `alloc_box` (type). Other threads may read the value: `T`
        // is `Sync`.
        match unsafe { downcast(self.any()) } {
            Some(value) => value,
            None => panic!("boxroot: {}", mismatch(self)),
        }
    }
}

/// Drops a `Held<T>`, as the finaliser of its block (`c/alloc.c`).
///
/// # Safety
///
/// `held` is a `Held<T>` from `alloc_box`, and is not used again.
unsafe extern "C" fn drop_held<T>(held: *mut Held<()>) {
    unsafe fn drop_it<T>(held: *mut Held<()>) {
        // SAFETY: `held` is a `Held<T>` that `alloc_box` made from a `Box`, and is not used again
        // (caller).
        drop(unsafe { Box::from_raw(held.cast::<Held<T>>()) })
    }
    // SAFETY: as promised by the caller.
    unsafe { drop_in_finaliser(held, drop_it::<T>) }
}

/// A panic in `T::drop` ends here; the panic hook has reported it.
///
/// # Safety
///
/// `drop_it` may be called with `held`.
unsafe fn drop_in_finaliser(held: *mut Held<()>, drop_it: unsafe fn(*mut Held<()>)) {
    // On OCaml 5, the library identifies this thread before `drop` can change the thread's signal
    // mask.
    let _ = sys::lock_state();
    // SAFETY: the function may be called (caller). The thread that runs finalisers holds the lock,
    // or collects for one that does.
    let drop = || unsafe { below_handlers(|| drop_it(held)) };
    let result = catch_unwind(AssertUnwindSafe(drop));
    if let Err(payload) = result {
        // Not dropped, because the payload's own `drop` might also panic.
        std::mem::forget(payload);
    }
}
