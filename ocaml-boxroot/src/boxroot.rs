use crate::raw::ValueExt;
use crate::{ConversionError, DomainLock, OCamlAny, Value};
use ocaml_boxroot_sys::{self as sys, token};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;

/// The memory of a root's value: a [`Boxroot`] dereferences to it.
///
/// A function that takes `&RootRef<T>` leaves the rooting to its caller: it can allocate, call
/// OCaml, and read the value again, without creating a root itself.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{ConversionError, DomainLock, OCamlString, RootRef, ToOCaml};
///
/// fn repeat(
///     lock: &mut DomainLock,
///     text: &RootRef<OCamlString>,
/// ) -> Result<String, ConversionError> {
///     let once = text.get(lock).to_string_lossy();
///     lock.alloc_string("the collector may run")?;
///     Ok(once + &text.get(lock).to_string_lossy())
/// }
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let root = "ab".to_ocaml(lock)?;
/// assert_eq!(repeat(lock, &root)?, "abab");
/// # Ok(()) });
/// ```
#[repr(transparent)]
pub struct RootRef<T: ?Sized> {
    cell: UnsafeCell<sys::Value>,
    _type: PhantomData<*const T>,
}

impl<T: ?Sized> RootRef<T> {
    /// The value that the root owns. One load.
    #[doc(alias = "boxroot_get")]
    #[inline(always)]
    pub fn get<'l>(&self, _lock: &'l DomainLock) -> Value<'l, T> {
        // SAFETY: the cell belongs to a live root, or has an immediate. Only two write to it: the
        // garbage collector, which does not run while the token is borrowed, and `Boxroot::set`,
        // which has the only reference to the root. The value is live for 'l, because the collector
        // does not run in 'l.
        unsafe { Value::from_raw(*self.cell.get()) }
    }

    /// A place for an immediate, which the collector need not know. `None` for any other value.
    #[inline(always)]
    pub(crate) fn immediate(value: Value<'_, T>) -> Option<RootRef<T>> {
        let cell = UnsafeCell::new(value.raw());
        value.is_immediate().then_some(RootRef { cell, _type: PhantomData })
    }

    /// Another root for the same value.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    #[doc(alias = "boxroot_create")]
    #[inline(always)]
    #[track_caller]
    pub fn clone_in(&self, lock: &DomainLock) -> Result<Boxroot<T>, ConversionError> {
        Boxroot::try_new(lock, self.get(lock))
    }

    /// The root, as one of a value of unknown type.
    pub fn as_any(&self) -> &RootRef<OCamlAny> {
        // SAFETY: every value is an `OCamlAny`.
        unsafe { self.cast() }
    }

    /// The root, under another type.
    ///
    /// # Safety
    ///
    /// The value is a `U`.
    pub(crate) unsafe fn cast<U: ?Sized>(&self) -> &RootRef<U> {
        // SAFETY: both types consist of the cell alone (`repr(transparent)`); the value is a `U`
        // (caller).
        unsafe { &*(self as *const RootRef<T>).cast() }
    }
}

impl RootRef<OCamlAny> {
    /// A place for an integer.
    #[inline(always)]
    pub(crate) const fn of_int(n: isize) -> Self {
        RootRef { cell: UnsafeCell::new(n << 1 | 1), _type: PhantomData }
    }
}

// SAFETY: threads with a shared reference only read the cell, under a lock (`get`). A thread that
// reads the value can create another root for it, so `T` must allow what it allows for `Boxroot`.
unsafe impl<T: ?Sized + Send + Sync> Sync for RootRef<T> {}

/// An owned root: keeps one OCaml value alive until it is dropped.
///
/// * As large as a pointer; `Option<Boxroot<T>>` too.
/// * [`Send`] and [`Sync`] if `T` is both, as for an [`Arc`](std::sync::Arc): any thread may own
///   it, share it and drop it, with or without the lock, even after the runtime was shut down.
///   Reading needs a token, of any domain.
/// * Your own marker that is not `Send` keeps Rust code from taking roots to other threads. OCaml
///   has no such types: a polymorphic OCaml function may give the value to a Rust closure on
///   another thread. So unsafe code must not rely on the value staying on one thread.
/// * It does not depend on the domain that created it: when that domain ends, another one takes its
///   roots over.
/// * Dropping is inlined on Linux (x86-64 and arm64), and a call elsewhere. With a token,
///   [`delete_in`](Boxroot::delete_in) is faster, because it need not check who holds the lock.
///
/// # Examples
///
/// ```
/// # use ocaml_boxroot::Boxroot;
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let (value, now) = lock.alloc_string("kept")?;
/// let root = Boxroot::new(now, value);
/// for i in 0..100_000 {
///     lock.alloc_string(i.to_string())?; // the collector runs, "kept" moves
/// }
/// assert_eq!(root.get(lock).to_string_lossy(), "kept");
/// # Ok(()) });
/// ```
#[doc(alias(
    "boxroot",
    "GcRoot",
    "CAMLparam",
    "CAMLlocal",
    "caml_register_global_root",
    "caml_register_generational_global_root"
))]
#[repr(transparent)]
pub struct Boxroot<T: ?Sized> {
    /// Invariant: live, a `T`, and owned by this `Boxroot` alone.
    root: sys::BoxRoot,
    _type: PhantomData<*const T>,
}

// SAFETY: a root is not tied to a thread: reading it needs a token, under which no collection moves
// values, and deleting it works on any thread. `T` names the type of the value, and says whether
// other threads may use it. `T` must also be `Sync`, because the value may have other roots, on
// threads whose domains run at the same time.
unsafe impl<T: ?Sized + Send + Sync> Send for Boxroot<T> {}
// SAFETY: as for `Send`; a shared reference can only read the root.
unsafe impl<T: ?Sized + Send + Sync> Sync for Boxroot<T> {}

impl<T: ?Sized> Boxroot<T> {
    /// Creates a root for a value. Inlined: no call and no thread-local access in the common case.
    ///
    /// # Panics
    ///
    /// If memory runs out; [`try_new`](Boxroot::try_new) reports it.
    #[doc(alias(
        "boxroot_create",
        "caml_register_global_root",
        "caml_register_generational_global_root"
    ))]
    #[inline(always)]
    #[track_caller]
    pub fn new(lock: &DomainLock, value: Value<'_, T>) -> Self {
        match Self::create(lock, value) {
            Some(root) => root,
            None => failed(),
        }
    }

    /// Creates a root for a value.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory): nothing changed, and existing
    /// roots are intact.
    #[doc(alias(
        "boxroot_create",
        "caml_register_global_root",
        "caml_register_generational_global_root"
    ))]
    #[inline(always)]
    #[track_caller]
    pub fn try_new(lock: &DomainLock, value: Value<'_, T>) -> Result<Self, ConversionError> {
        match Self::create(lock, value) {
            Some(root) => Ok(root),
            None => Err(ConversionError::last()),
        }
    }

    #[inline(always)]
    #[track_caller]
    #[allow(clippy::manual_map)] // without optimisation, the closure would be a call
    fn create(lock: &DomainLock, value: Value<'_, T>) -> Option<Self> {
        // SAFETY: the token proves that the lock of its domain is held and that no root scan is
        // running. The value is live, because only a mutable use of the token could end its life,
        // and the token is borrowed shared now.
        match unsafe { token::create(lock.domain(), value.raw()) } {
            Some(root) => Some(Boxroot { root, _type: PhantomData }),
            None => None,
        }
    }

    /// Makes this root own another value instead of its own. The root may move to another slot.
    ///
    /// # Panics
    ///
    /// If memory runs out; [`try_set`](Boxroot::try_set) reports it.
    #[doc(alias("boxroot_modify", "caml_modify_generational_global_root"))]
    #[inline(always)]
    #[track_caller]
    pub fn set(&mut self, lock: &DomainLock, value: Value<'_, T>) {
        if !self.modify(lock, value) {
            failed()
        }
    }

    /// Makes this root own another value instead of its own. The root may move to another slot.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory): the root keeps its value.
    #[doc(alias("boxroot_modify", "caml_modify_generational_global_root"))]
    #[inline(always)]
    #[track_caller]
    pub fn try_set(
        &mut self,
        lock: &DomainLock,
        value: Value<'_, T>,
    ) -> Result<(), ConversionError> {
        self.modify(lock, value).then_some(()).ok_or_else(ConversionError::last)
    }

    #[inline(always)]
    #[track_caller]
    fn modify(&mut self, lock: &DomainLock, value: Value<'_, T>) -> bool {
        // SAFETY: as in `create`; the root is live, and `&mut self` proves that no other thread
        // uses it.
        unsafe { token::modify(lock.domain(), &mut self.root, value.raw()) }
    }

    /// Drops the root, under a token. Inlined: no call and no thread-local access in the common
    /// case. It never fails.
    #[doc(alias(
        "boxroot_delete",
        "caml_remove_global_root",
        "caml_remove_generational_global_root"
    ))]
    #[inline(always)]
    #[track_caller]
    pub fn delete_in(self, lock: &DomainLock) {
        let this = ManuallyDrop::new(self);
        // SAFETY: the token proves that the lock of its domain is held and that no root scan is
        // running. The root is live and owned, and `ManuallyDrop` prevents a second delete.
        unsafe { token::delete(lock.domain(), this.root) }
    }

    /// The value, without its root.
    #[inline(always)]
    pub(crate) fn into_value(self, lock: &DomainLock) -> Value<'_, T> {
        let value = self.get(lock);
        self.delete_in(lock);
        value
    }

    /// Gives the root up to the raw interface. The caller deletes it there, or takes it back by
    /// [`from_raw`](Boxroot::from_raw); otherwise its value stays alive forever.
    pub fn into_raw(self) -> sys::BoxRoot {
        ManuallyDrop::new(self).root
    }

    /// Takes a root from the raw interface.
    ///
    /// # Safety
    ///
    /// `root` is live, its value is a `T`, and no copy of the handle is used any more. If `T` is
    /// not both `Send` and `Sync`, this is a thread on which the value may be used.
    pub unsafe fn from_raw(root: sys::BoxRoot) -> Self {
        Boxroot { root, _type: PhantomData }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn failed() -> ! {
    panic!("boxroot: {}", ConversionError::last())
}

impl<T: ?Sized> Deref for Boxroot<T> {
    type Target = RootRef<T>;

    #[inline(always)]
    fn deref(&self) -> &RootRef<T> {
        // SAFETY: the root is live while `self` is borrowed. A `RootRef` is laid out like the cell,
        // and its `UnsafeCell` allows the collector to change it.
        unsafe { &*sys::boxroot_get_ref(self.root).cast() }
    }
}

impl<T: ?Sized> Drop for Boxroot<T> {
    #[inline]
    #[track_caller]
    fn drop(&mut self) {
        // SAFETY: the root is live and owned by `self`, and is not used again.
        unsafe { sys::boxroot_delete(self.root) }
    }
}

impl<T: ?Sized> fmt::Debug for Boxroot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Boxroot({:p})", sys::boxroot_get_ref(self.root))
    }
}
