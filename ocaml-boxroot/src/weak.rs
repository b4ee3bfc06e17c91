use crate::raw::ValueExt;
use crate::types::block::made;
use crate::{ffi, Boxroot, ConversionError, DomainLock, RootRef, Value};
use std::fmt;
use std::marker::PhantomData;

/// A weak root: gives access to a value as long as something else keeps the value alive, but does
/// not keep it alive itself. A cache can hold values through weak roots.
///
/// * The value is gone once a major collection has found that neither a root nor OCaml refers to
///   it. Until then [`get`](WeakRoot::get) may return it, and keeps it alive for this collection.
/// * It works like OCaml's `Weak` and `Ephemeron`, and becomes empty at the same time as they do.
///   The value of an [`OCamlBox`](crate::markers::OCamlBox) is dropped after its weak roots are
///   empty.
/// * Immediates, such as integers, and constants in the program's data are never gone.
/// * It is [`Send`] and [`Sync`] if `T` is both. Like a [`Boxroot`], it can be dropped anywhere.
/// * On OCaml 5.5, a weak root of a lazy value must not be read while another domain forces that
///   value. The same holds for OCaml's `Weak` (ocaml/ocaml, issue 14816).
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{Boxroot, OCamlString, ToOCaml, WeakRoot};
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let name: Boxroot<OCamlString> = "Ada".to_ocaml(lock)?;
/// let weak = WeakRoot::new(lock, &name)?;
/// assert_eq!(weak.get(lock).unwrap().to_string_lossy(), "Ada");
/// let again: Boxroot<OCamlString> = weak.upgrade(lock).unwrap();
/// # Ok(()) });
/// ```
#[doc(alias("Weak", "Ephemeron", "caml_ephemeron_create", "caml_weak_get"))]
pub struct WeakRoot<T: ?Sized> {
    /// A weak pointer of OCaml to a `T`.
    pointer: Boxroot<Pointer>,
    _type: PhantomData<*const T>,
}

/// The marker of the pointer.
enum Pointer {}

// SAFETY: as for `Boxroot`, which `upgrade` creates: `T` says whether other threads may use the
// value.
unsafe impl<T: ?Sized + Send + Sync> Send for WeakRoot<T> {}
// SAFETY: as for `Send`; a shared reference can only read the pointer.
unsafe impl<T: ?Sized + Send + Sync> Sync for WeakRoot<T> {}

impl<T: ?Sized> WeakRoot<T> {
    /// Creates a weak root of the value of another root. May run the collector.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    #[track_caller]
    pub fn new(lock: &mut DomainLock, root: &RootRef<T>) -> Result<WeakRoot<T>, ConversionError> {
        let place: *const RootRef<T> = root;
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector
        // may run. The root is borrowed, and a `RootRef` is its cell (`repr(transparent)`).
        let raw = unsafe { ffi::obx_alloc_weak(place.cast()) };
        // SAFETY: `raw` is 0, or a new weak pointer. The collector has not run since.
        let (pointer, lock) = unsafe { made(raw, lock) }?;
        Ok(WeakRoot { pointer: Boxroot::try_new(lock, pointer)?, _type: PhantomData })
    }

    /// Returns the value if it is alive. It stays alive at least until the collector runs again.
    pub fn get<'l>(&self, lock: &'l DomainLock) -> Option<Value<'l, T>> {
        let mut raw = 1;
        // SAFETY: the root owns a weak pointer, and the token proves that the lock is held.
        let is_alive = unsafe { ffi::obx_get_weak(self.pointer.get(lock).raw(), &mut raw) } != 0;
        // SAFETY: if the value is alive, `raw` is the `T` of the root that `new` got. It is valid
        // until the collector runs, and the collector does not run during 'l.
        is_alive.then(|| unsafe { Value::from_raw(raw) })
    }

    /// Creates a root of the value if it is alive.
    ///
    /// # Panics
    ///
    /// If memory runs out.
    #[track_caller]
    pub fn upgrade(&self, lock: &DomainLock) -> Option<Boxroot<T>> {
        Some(Boxroot::new(lock, self.get(lock)?))
    }
}

impl<T: ?Sized> fmt::Debug for WeakRoot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WeakRoot({:?})", self.pointer)
    }
}
