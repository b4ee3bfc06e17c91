use crate::raw::ValueExt;
use crate::{ConversionError, DomainLock, OCamlAny, Value};
use ocaml_boxroot_sys::{self as sys, token};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;

/// The memory cell that holds a root's value. A [`Boxroot`] dereferences to it.
///
/// A function that takes `&RootRef<T>` leaves rooting to its caller: it can allocate, call OCaml,
/// and then read the value again, without creating a root itself.
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
    /// The value that the root owns. This costs one load.
    #[doc(alias = "boxroot_get")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn get<'l>(&self, _lock: &'l DomainLock) -> Value<'l, T> {
        // SAFETY: the cell belongs to a live root, or holds an immediate. It has two writers: the
        // garbage collector, which does not run while the token is borrowed, and `Boxroot::set`,
        // which has the only reference to the root. The value is live for 'l, because the collector
        // does not run during 'l.
        unsafe { Value::from_raw(*self.cell.get()) }
    }

    /// A cell with an immediate, which needs no root. `None` for any other value.
    #[cfg_attr(not(debug_assertions), inline(always))]
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
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn clone_in(&self, lock: &DomainLock) -> Result<Boxroot<T>, ConversionError> {
        Boxroot::try_new(lock, self.get(lock))
    }

    /// This root, with the type of a root of any value.
    pub fn as_any(&self) -> &RootRef<OCamlAny> {
        // SAFETY: every value is an `OCamlAny`.
        unsafe { self.cast() }
    }

    /// This root, with another type.
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
    /// A cell with an integer.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn of_int(n: isize) -> Self {
        RootRef { cell: UnsafeCell::new(n << 1 | 1), _type: PhantomData }
    }
}

// SAFETY: threads with a shared reference only read the cell, under a lock (`get`). A thread that
// reads the value can create another root for it, so `T` must meet the conditions of `Boxroot`.
unsafe impl<T: ?Sized + Send + Sync> Sync for RootRef<T> {}

/// An owned root: keeps one OCaml value alive until it is dropped.
///
/// * `Boxroot<T>` and `Option<Boxroot<T>>` have the size of a pointer.
/// * It is [`Send`] and [`Sync`] if `T` is both, like an [`Arc`](std::sync::Arc): any thread may
///   own it, share it and drop it, with or without the lock, even after the runtime was shut down.
///   Reading needs a token of any domain.
/// * If `T` is your own marker type and not `Send`, Rust code cannot move its roots to other
///   threads. But OCaml does not know `Send`: a polymorphic OCaml function may pass the value to a
///   Rust closure on another thread. So unsafe code must not rely on the value staying on one
///   thread.
/// * It may outlive the domain that created it: when a domain ends, another one takes over its
///   roots.
/// * Dropping is inlined on Linux (x86-64 and arm64); elsewhere it is a function call. With a
///   token, [`delete_in`](Boxroot::delete_in) is faster, because it does not check who holds the
///   lock.
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
    /// Invariant: the root is live, its value is a `T`, and only this `Boxroot` owns it.
    root: sys::BoxRoot,
    _type: PhantomData<*const T>,
}

// SAFETY: a root is not tied to a thread: reading it needs a token, under which no collection moves
// values, and deleting it works on any thread. `T` is the type of the value, and its traits say
// whether other threads may use the value. `T` must also be `Sync`, because other threads, whose
// domains run at the same time, may have roots of the same value.
unsafe impl<T: ?Sized + Send + Sync> Send for Boxroot<T> {}
// SAFETY: as for `Send`; a shared reference can only read the root.
unsafe impl<T: ?Sized + Send + Sync> Sync for Boxroot<T> {}

impl<T: ?Sized> Boxroot<T> {
    /// Creates a root for a value. Inlined: no call and no thread-local access in the common case.
    ///
    /// # Panics
    ///
    /// If memory runs out; [`try_new`](Boxroot::try_new) returns an error instead.
    #[doc(alias(
        "boxroot_create",
        "caml_register_global_root",
        "caml_register_generational_global_root"
    ))]
    #[cfg_attr(not(debug_assertions), inline(always))]
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
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory); existing roots are intact.
    #[doc(alias(
        "boxroot_create",
        "caml_register_global_root",
        "caml_register_generational_global_root"
    ))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn try_new(lock: &DomainLock, value: Value<'_, T>) -> Result<Self, ConversionError> {
        match Self::create(lock, value) {
            Some(root) => Ok(root),
            None => Err(ConversionError::last()),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
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

    /// Replaces the value that this root owns. The root may move to another slot.
    ///
    /// # Panics
    ///
    /// If memory runs out; [`try_set`](Boxroot::try_set) returns an error instead.
    #[doc(alias("boxroot_modify", "caml_modify_generational_global_root"))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn set(&mut self, lock: &DomainLock, value: Value<'_, T>) {
        if !self.modify(lock, value) {
            failed()
        }
    }

    /// Replaces the value that this root owns. The root may move to another slot.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory); then the root keeps its value.
    #[doc(alias("boxroot_modify", "caml_modify_generational_global_root"))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn try_set(
        &mut self,
        lock: &DomainLock,
        value: Value<'_, T>,
    ) -> Result<(), ConversionError> {
        self.modify(lock, value).then_some(()).ok_or_else(ConversionError::last)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn modify(&mut self, lock: &DomainLock, value: Value<'_, T>) -> bool {
        // SAFETY: as in `create`; the root is live, and `&mut self` proves that no other thread
        // uses it.
        unsafe { token::modify(lock.domain(), &mut self.root, value.raw()) }
    }

    /// Drops the root while the lock is held. Infallible, and inlined: no call and no thread-local
    /// access in the common case.
    #[doc(alias(
        "boxroot_delete",
        "caml_remove_global_root",
        "caml_remove_generational_global_root"
    ))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn delete_in(self, lock: &DomainLock) {
        let this = ManuallyDrop::new(self);
        // SAFETY: the token proves that the lock of its domain is held and that no root scan is
        // running. The root is live and owned, and `ManuallyDrop` prevents a second delete.
        unsafe { token::delete(lock.domain(), this.root) }
    }

    /// Drops the root and returns its value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn into_value(self, lock: &DomainLock) -> Value<'_, T> {
        let value = self.get(lock);
        self.delete_in(lock);
        value
    }

    /// Hands the root over to the raw interface. The caller must delete it there, or take it back
    /// with [`from_raw`](Boxroot::from_raw); otherwise the root and its value leak.
    pub fn into_raw(self) -> sys::BoxRoot {
        ManuallyDrop::new(self).root
    }

    /// Takes a root from the raw interface.
    ///
    /// # Safety
    ///
    /// `root` is live, its value is a `T`, and no copy of the handle is used afterwards. If `T` is
    /// not both `Send` and `Sync`, this thread may use the value.
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

    #[cfg_attr(not(debug_assertions), inline(always))]
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
