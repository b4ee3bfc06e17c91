//! Rust values that OCaml owns.

use super::block::made;
use super::form::{mismatch, Form};
use super::memory::with_capacity;
use super::{Invariant, Made};
use crate::lock::below_handlers;
use crate::{ffi, ConversionError, DomainLock, OCamlAny, Value};
use ocaml_boxroot_sys as sys;
use std::alloc::{handle_alloc_error, Layout};
use std::any::TypeId;
use std::cmp::Ordering;
use std::ffi::{c_char, c_int, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::{fmt, iter, ptr};

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
    ///   `Hashtbl.hash` gives all these blocks the same hash. A type that implements [`Custom`] can
    ///   have what its blocks do instead.
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
    /// Those of `T`, for C, if it is [`Custom`].
    operations: Option<&'static Operations>,
    /// [`COPY`] of the library that made the block.
    copy: *const u8,
    /// The id of `T`.
    id: TypeId,
    value: T,
}

/// A `Held<T>` on the heap, which is dropped with its holder.
pub(super) struct Holder<T: 'static>(*mut Held<T>);

impl<T: 'static> Holder<T> {
    /// [`OutOfMemory`](ConversionErrorKind::OutOfMemory): the value is dropped.
    pub(super) fn new(
        operations: Option<&'static Operations>,
        value: T,
    ) -> Result<Self, ConversionError> {
        let (drop, copy, id) = (drop_held::<T>, &raw const COPY, TypeId::of::<T>());
        let mut held = with_capacity(1)?; // of the layout of a `Box`
        held.push(Held { drop, operations, copy, id, value });
        Ok(Holder(held.leak().as_mut_ptr()))
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
        // SAFETY: the `Held` is from `new`, of the layout of a `Box`, and was not given away.
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
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory): the value is dropped.
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
        Holder::new(None, value)?.into_box(self, bytes, ptr::null())
    }

    /// As [`alloc_box_owning`](DomainLock::alloc_box_owning), for a value that OCaml can compare,
    /// hash or marshal.
    ///
    /// # Panics
    ///
    /// If the type is marshalled by a name that another type has.
    ///
    /// # Errors
    ///
    /// As [`alloc_box`](DomainLock::alloc_box).
    ///
    /// # Examples
    ///
    /// See [`Custom`].
    #[doc(alias("custom_operations", "caml_alloc_custom"))]
    pub fn alloc_custom<'l, T: Custom>(
        &'l mut self,
        value: T,
        bytes: usize,
    ) -> Result<(Value<'l, OCamlBox<T>>, &'l DomainLock), ConversionError> {
        let registered = registered::<T>(self).map_or(ptr::null(), |entry| entry.place);
        Holder::new(Some(Operations::of::<T>()), value)?.into_box(self, bytes, registered)
    }

    /// Tells the collector that the Rust values in OCaml have come to own so many bytes more than
    /// [`alloc_box_owning`](DomainLock::alloc_box_owning) said. It will collect sooner. There is no
    /// way to tell it that they own less: OCaml counts how much is allocated, and not how much is
    /// there.
    ///
    /// # Examples
    ///
    /// ```
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// # let log = std::sync::Mutex::new(Vec::new());
    /// log.lock().unwrap().extend([0u8; 1 << 20]);
    /// lock.count_memory(1 << 20);
    /// # Ok(()) });
    /// ```
    #[doc(alias("caml_adjust_gc_speed", "caml_alloc_dependent_memory"))]
    pub fn count_memory(&self, bytes: usize) {
        // SAFETY: the token proves that the lock is held. The collector does not run.
        unsafe { ffi::obx_count_memory(bytes) }
    }

    /// Lets OCaml unmarshal values of a type, in a program that has not made one by
    /// [`alloc_custom`](DomainLock::alloc_custom) before.
    ///
    /// # Panics
    ///
    /// As [`alloc_custom`](DomainLock::alloc_custom).
    pub fn unmarshal<T: Custom>(&self) {
        registered::<T>(self);
    }
}

impl<T: 'static> Holder<T> {
    /// A block that owns the value; of a registered type, or NULL. The collector may run.
    fn into_box(
        self,
        lock: &mut DomainLock,
        bytes: usize,
        registered: *const c_void,
    ) -> Made<'_, OCamlBox<T>> {
        let (held, size) = (self.give(), size_of::<Held<T>>().saturating_add(bytes));
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector
        // may run. The block owns the `Held` from now on. The type is that of the value, or NULL.
        let raw = unsafe { ffi::obx_alloc_box(held, size, registered) };
        if raw == 0 {
            // SAFETY: there is no block, so the `Held` is nobody's.
            unsafe { Holder::<T>::take_back(held) };
        }
        // SAFETY: `raw` is 0, or a new block of this type.
        unsafe { made(raw, lock) }
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

/// Drops a `Held<T>`, as the finaliser of its block (`c/box.c`).
///
/// # Safety
///
/// `held` is a `Held<T>` from `alloc_box`, and is not used again.
unsafe extern "C" fn drop_held<T>(held: *mut Held<()>) {
    unsafe fn drop_it<T>(held: *mut Held<()>) {
        // SAFETY: `held` is a `Held<T>` that `Holder::new` made, and is not used again
        // (caller).
        drop(unsafe { Box::from_raw(held.cast::<Held<T>>()) })
    }
    // SAFETY: as promised by the caller; the block's finaliser runs.
    let _ = unsafe { guarded(&mut || drop_it::<T>(held)) };
}

/// Calls `f`. A panic ends here; the panic hook has reported it.
///
/// # Safety
///
/// OCaml has called, on a thread that holds the lock, or collects for one that does.
unsafe fn guarded(f: &mut dyn FnMut()) -> Result<(), &'static str> {
    // On OCaml 5, the library identifies this thread before `f` can change the thread's signal
    // mask.
    let _ = sys::lock_state();
    // SAFETY: the lock is held, perhaps inside a collection (caller).
    catch_unwind(AssertUnwindSafe(|| unsafe { below_handlers(f) })).map_err(|payload| {
        // Not dropped, because the payload's own `drop` might also panic.
        std::mem::forget(payload);
        "a Rust function panicked"
    })
}

/// A Rust type whose values in OCaml ([`OCamlBox`]) are compared, hashed or marshalled by OCaml's
/// polymorphic functions. [`alloc_custom`](DomainLock::alloc_custom) makes such values.
///
/// The functions run while OCaml is in the middle of its own: [`attach`](DomainLock::attach)
/// returns [`AlreadyHeld`](crate::AttachError::AlreadyHeld) in them. They must not wait for a
/// thread that may wait for OCaml's lock.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::custom::{Custom, CustomOperations};
///
/// #[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
/// struct Version(Vec<u8>);
///
/// impl Custom for Version {
///     const OPERATIONS: CustomOperations<Version> = CustomOperations::new().compare().hash();
/// }
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let (version, lock) = lock.alloc_custom(Version(vec![1, 84]), 2)?;
/// assert_eq!(version.get().0, [1, 84]);
/// # Ok(()) });
/// ```
///
/// OCaml sorts a list of such values by `compare`, and they are keys of its maps and hash tables.
pub trait Custom: Send + Sync + Sized + 'static {
    /// Which functions OCaml has.
    const OPERATIONS: CustomOperations<Self>;
}

/// The functions that OCaml has for a [`Custom`] type. Those that are left out are as in an
/// [`OCamlBox`] of another type.
pub struct CustomOperations<T> {
    compare: Option<fn(&T, &T) -> Ordering>,
    hash: Option<fn(&T) -> u32>,
    marshal: Option<Marshal<T>>,
}

struct Marshal<T> {
    name: &'static str,
    to_bytes: fn(&T) -> Result<Vec<u8>, String>,
    from_bytes: fn(&[u8]) -> Result<T, String>,
}

impl<T: Custom> CustomOperations<T> {
    /// None.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        CustomOperations { compare: None, hash: None, marshal: None }
    }

    /// OCaml's `compare`, `=`, `<` and so on are Rust's [`Ord`]. Values of different types are
    /// different. If the function panics, OCaml sees the exception `Failure`.
    pub const fn compare(mut self) -> Self
    where
        T: Ord,
    {
        self.compare = Some(T::cmp);
        self
    }

    /// OCaml's `Hashtbl.hash` is Rust's [`Hash`], the same in every run of a program. The hash is
    /// 0 if the function panics.
    pub const fn hash(mut self) -> Self
    where
        T: Hash,
    {
        self.hash = Some(hash);
        self
    }

    /// OCaml's `Marshal` writes the bytes of `to_bytes`, and reads them by `from_bytes`. The name
    /// is that of the type in the data: no other type has it, and it stays when the program
    /// changes.
    ///
    /// If a function returns an error or panics, OCaml sees the exception `Failure`, with at most
    /// 255 bytes of the text. It also sees that if it reads a value of a type of which the program
    /// has neither made a value nor called [`unmarshal`](DomainLock::unmarshal).
    ///
    /// OCaml does not expect `to_bytes` to fail. If it does, OCaml loses the memory of what it has
    /// written by then, 8 KB or more.
    ///
    /// ```
    /// use ocaml_boxroot::custom::{Custom, CustomOperations};
    ///
    /// struct Name(String);
    ///
    /// impl Custom for Name {
    ///     const OPERATIONS: CustomOperations<Name> = CustomOperations::new().marshal(
    ///         "shop.name",
    ///         |name| Ok(name.0.clone().into_bytes()),
    ///         |bytes| match String::from_utf8(bytes.to_vec()) {
    ///             Ok(name) => Ok(Name(name)),
    ///             Err(error) => Err(error.to_string()),
    ///         },
    ///     );
    /// }
    /// ```
    ///
    /// Data from elsewhere is as dangerous to OCaml's `Marshal` as it always is.
    pub const fn marshal(
        mut self,
        name: &'static str,
        to_bytes: fn(&T) -> Result<Vec<u8>, String>,
        from_bytes: fn(&[u8]) -> Result<T, String>,
    ) -> Self {
        self.marshal = Some(Marshal { name, to_bytes, from_bytes });
        self
    }
}

impl<T> fmt::Debug for CustomOperations<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CustomOperations")
    }
}

fn hash<T: Hash>(value: &T) -> u32 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish() as u32
}

/// The operations of a type, for C (`struct obx_operations`).
#[repr(C)]
pub(super) struct Operations {
    compare: Option<unsafe extern "C" fn(*const Held<()>, *const Held<()>, *mut c_char) -> c_int>,
    hash: Option<unsafe extern "C" fn(*const Held<()>) -> u32>,
    write: Option<unsafe extern "C" fn(*const Held<()>, &mut usize, *mut c_char) -> *mut u8>,
    free: unsafe extern "C" fn(*mut u8, usize),
}

impl Operations {
    /// Those of `T`.
    fn of<T: Custom>() -> &'static Operations {
        const { &Operations::new::<T>() }
    }

    const fn new<T: Custom>() -> Operations {
        Operations {
            compare: if T::OPERATIONS.compare.is_some() { Some(compare_held::<T>) } else { None },
            hash: if T::OPERATIONS.hash.is_some() { Some(hash_held::<T>) } else { None },
            write: if T::OPERATIONS.marshal.is_some() { Some(write_held::<T>) } else { None },
            free: free_bytes,
        }
    }
}

/// What [`compare_held`] returns if it fails.
const FAILED: c_int = 2;

/// Compares the value of a box of `T` with that of another box.
///
/// # Safety
///
/// OCaml compares the boxes. There is room for a text.
unsafe extern "C" fn compare_held<T: Custom>(
    a: *const Held<()>,
    b: *const Held<()>,
    text: *mut c_char,
) -> c_int {
    // SAFETY: the boxes live (caller).
    let [first, second] = [a, b].map(|held| unsafe { ((*held).id, (*held).copy) });
    if first != second {
        return first.cmp(&second) as c_int;
    }
    let mut order = Ordering::Equal;
    // SAFETY: OCaml has called (caller). Both boxes are of `T`: the first by its operations, and
    // the second by the id. One copy of this crate made both.
    let result = unsafe {
        guarded(&mut || {
            if let Some(compare) = T::OPERATIONS.compare {
                let (a, b) = (a.cast::<Held<T>>(), b.cast::<Held<T>>());
                order = compare(&(*a).value, &(*b).value)
            }
        })
    };
    match result {
        Ok(()) => order as c_int,
        // SAFETY: there is room (caller).
        Err(error) => unsafe {
            write_text(error, text);
            FAILED
        },
    }
}

/// The hash of a box of `T`.
///
/// # Safety
///
/// OCaml hashes the box.
unsafe extern "C" fn hash_held<T: Custom>(held: *const Held<()>) -> u32 {
    let mut n = 0;
    // SAFETY: OCaml has called; the box is of `T` (caller).
    let _ = unsafe {
        guarded(&mut || {
            if let Some(hash) = T::OPERATIONS.hash {
                n = hash(&(*held.cast::<Held<T>>()).value)
            }
        })
    };
    n
}

/// The bytes of a box of `T`, for [`free_bytes`]: its type's name, a 0, and the value's bytes.
///
/// # Safety
///
/// OCaml marshals the box. There is room for a text.
unsafe extern "C" fn write_held<T: Custom>(
    held: *const Held<()>,
    length: &mut usize,
    text: *mut c_char,
) -> *mut u8 {
    let mut bytes = Err(String::new());
    // SAFETY: OCaml has called; the box is of `T` (caller).
    let result = unsafe {
        guarded(&mut || {
            if let Some(marshal) = &T::OPERATIONS.marshal {
                bytes = (marshal.to_bytes)(&(*held.cast::<Held<T>>()).value)
                    .map(|bytes| [marshal.name.as_bytes(), &[0], &bytes].concat())
            }
        })
    };
    match result.map_err(str::to_string).and(bytes) {
        Ok(bytes) => {
            *length = bytes.len();
            Box::into_raw(bytes.into_boxed_slice()).cast()
        }
        // SAFETY: there is room (caller).
        Err(error) => unsafe {
            write_text(&error, text);
            ptr::null_mut()
        },
    }
}

/// # Safety
///
/// `bytes` are from [`write_held`], and are not used again.
unsafe extern "C" fn free_bytes(bytes: *mut u8, length: usize) {
    // SAFETY: they are from a `Box` of this length (caller).
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(bytes, length)) })
}

/// Writes the beginning of a text as a C string.
///
/// # Safety
///
/// There is room for [`ffi::ERROR_SIZE`] bytes.
unsafe fn write_text(text: &str, place: *mut c_char) {
    let length = text.len().min(ffi::ERROR_SIZE - 1);
    // SAFETY: there is room (caller).
    unsafe {
        place.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), length);
        *place.add(length) = 0;
    }
}

/// A type that OCaml can unmarshal.
struct Registered {
    name: &'static str,
    id: TypeId,
    /// What C has of it (`struct obx_type`).
    place: *const c_void,
    next: Option<&'static Registered>,
}

/// The type that was registered last. No mutex, which another thread may hold in a fork.
static REGISTERED: AtomicPtr<Registered> = AtomicPtr::new(ptr::null_mut());

fn last_registered() -> Option<&'static Registered> {
    // SAFETY: NULL, or a `Registered` that is never changed or freed, since it was stored.
    unsafe { REGISTERED.load(Acquire).as_ref() }
}

/// The type, if it was registered. Panics if another type has its name.
fn find_registered(name: &str, id: TypeId) -> Option<&'static Registered> {
    let found = iter::successors(last_registered(), |entry| entry.next).find(|e| e.name == name);
    assert!(
        found.is_none_or(|entry| entry.id == id),
        "boxroot: two types are marshalled by the name {name:?}"
    );
    found
}

/// The type, registered, if OCaml marshals it.
fn registered<T: Custom>(lock: &DomainLock) -> Option<&'static Registered> {
    let (name, id) = (T::OPERATIONS.marshal.as_ref()?.name, TypeId::of::<T>());
    let mut place: *const c_void = ptr::null();
    loop {
        let next = last_registered();
        let found = find_registered(name, id);
        if found.is_some() {
            return found;
        }
        if place.is_null() {
            place = new_place::<T>(lock, name);
        }
        let before = next.map_or(ptr::null_mut(), |next| ptr::from_ref(next).cast_mut());
        let entry = Box::into_raw(Box::new(Registered { name, id, place, next }));
        if REGISTERED.compare_exchange(before, entry, AcqRel, Acquire).is_err() {
            // SAFETY: it is from the `Box`, and was not stored: another domain has stored one.
            drop(unsafe { Box::from_raw(entry) });
        }
    }
}

/// What C has of a type with this name, which is new.
fn new_place<T: Custom>(_: &DomainLock, name: &str) -> *const c_void {
    assert!(!name.contains('\0'), "boxroot: {name:?} cannot be the name of a type");
    let operations = ptr::from_ref(Operations::of::<T>()).cast();
    // SAFETY: the token proves that the lock is held. The operations are those of the values that
    // `read_held` makes.
    let place =
        unsafe { ffi::obx_unmarshal_boxes(operations, name.as_ptr(), name.len(), read_held::<T>) };
    if place.is_null() {
        handle_alloc_error(Layout::for_value(name));
    }
    place
}

/// A `Held` of bytes that were marshalled. NULL, and a text, if there is none.
///
/// # Safety
///
/// OCaml unmarshals the box. There are as many bytes, and room for a text.
unsafe extern "C" fn read_held<T: Custom>(
    bytes: *const u8,
    length: usize,
    text: *mut c_char,
) -> *mut c_void {
    // SAFETY: there are as many (caller).
    let bytes = unsafe { std::slice::from_raw_parts(bytes, length) };
    let mut held = Err(String::new());
    // SAFETY: OCaml has called (caller).
    let result = unsafe {
        guarded(&mut || {
            if let Some(marshal) = &T::OPERATIONS.marshal {
                held = (marshal.from_bytes)(bytes).and_then(|value| {
                    match Holder::new(Some(Operations::of::<T>()), value) {
                        Ok(holder) => Ok(holder.give()),
                        Err(error) => Err(error.to_string()),
                    }
                })
            }
        })
    };
    result.map_err(str::to_string).and(held).unwrap_or_else(|error| {
        // SAFETY: there is room (caller).
        unsafe { write_text(&error, text) };
        ptr::null_mut()
    })
}
