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
    /// The type of a custom block that owns a Rust value. In OCaml it is an abstract type. The
    /// block's finaliser drops the `T`.
    ///
    /// * The finaliser runs during a collection, on any thread. Therefore `T` must be [`Send`], and
    ///   its `drop` can use OCaml only to drop roots: [`attach`](DomainLock::attach) returns
    ///   [`InFinaliser`](crate::AttachError::InFinaliser). The finaliser catches a panic in `drop`.
    ///   Some threads may hold a mutex while they wait for OCaml's lock or run the collector.
    ///   `drop` must not wait for such a mutex, because this thread may be the one that holds it.
    /// * Rust gets a `&T` on any thread. Therefore `T` must be [`Sync`]. If it must change, use a
    ///   `Mutex`, for example.
    /// * In OCaml, comparing two of these blocks, or marshalling one, raises an exception.
    ///   `Hashtbl.hash` returns the same hash for all of them. Implement [`Custom`] to define these
    ///   operations.
    /// * Values that OCaml still owns when the runtime shuts down are not dropped.
    ///
    /// `T` may contain roots. But a `T` that owns a root of its own block, or of a value that
    /// refers to the block, leaks: it is never dropped.
    ///
    /// A block stores the type of its value, and [`try_get`](Value::try_get) checks whether this is
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

/// For generated bindings: a Rust type that implements an abstract OCaml type. A Rust type can
/// implement this trait only once, so it cannot stand for two abstract types: OCaml code may rely
/// on these being different.
#[diagnostic::on_unimplemented(
    message = "`{Self}` implements an OCaml type, so it must be Send, Sync and 'static"
)]
pub trait Implements: Send + Sync + 'static {}

/// The data that a custom block owns and points to, or the owner of a bigarray's data.
#[repr(C)]
struct Held<T> {
    /// The function that drops this `Held<T>`: `drop_held::<T>`. C reads this field (`struct
    /// obx_held`).
    drop: unsafe extern "C" fn(*mut Held<()>),
    /// The operations of `T` for C, if `T` is [`Custom`].
    operations: Option<&'static Operations>,
    /// The address of [`COPY`] in the library that made the block.
    copy: *const u8,
    /// The type id of `T`.
    id: TypeId,
    value: T,
}

/// A `Held<T>` on the heap, which is dropped with its holder.
pub(super) struct Holder<T: 'static>(*mut Held<T>);

impl<T: 'static> Holder<T> {
    /// Allocates the `Held`. If out of memory, drops the value and returns an error.
    pub(super) fn new(
        operations: Option<&'static Operations>,
        value: T,
    ) -> Result<Self, ConversionError> {
        let (drop, copy, id) = (drop_held::<T>, &raw const COPY, TypeId::of::<T>());
        let mut held = with_capacity(1)?; // has the layout of a `Box`
        held.push(Held { drop, operations, copy, id, value });
        Ok(Holder(held.leak().as_mut_ptr()))
    }

    /// The value. It does not move when the `Held` is given away.
    pub(super) fn value(&mut self) -> &mut T {
        // SAFETY: the holder owns the `Held`, and is borrowed as long as the result.
        unsafe { &mut (*self.0).value }
    }

    /// Gives away the `Held`, which C code drops through its first field.
    pub(super) fn give(self) -> *mut c_void {
        ManuallyDrop::new(self).0.cast()
    }

    /// Drops a `Held` that was given away.
    ///
    /// # Safety
    ///
    /// `held` comes from `give` of a holder of this type, and is not used again.
    pub(super) unsafe fn take_back(held: *mut c_void) {
        drop(Holder::<T>(held.cast()))
    }
}

impl<T: 'static> Drop for Holder<T> {
    fn drop(&mut self) {
        // SAFETY: the `Held` comes from `new`, has the layout of a `Box`, and was not given away.
        drop(unsafe { Box::from_raw(self.0) })
    }
}

/// Its address distinguishes the copies of this crate in one process. In two libraries (`cdylib`),
/// types with the same id may have different layouts, or rely on their library's statics.
static COPY: u8 = 0;

impl DomainLock {
    /// Gives a value to OCaml: allocates a block that owns it. The collector may run.
    ///
    /// The collector counts the size of the `T`, but not the memory that the `T` owns. If `T` owns
    /// much memory, use [`alloc_box_owning`](DomainLock::alloc_box_owning).
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory). The value is then dropped.
    #[doc(alias("caml_alloc_custom", "Data_custom_val"))]
    pub fn alloc_box<'l, T: Send + 'static>(
        &'l mut self,
        value: T,
    ) -> Result<(Value<'l, OCamlBox<T>>, &'l DomainLock), ConversionError> {
        self.alloc_box_owning(value, 0)
    }

    /// Like [`alloc_box`](DomainLock::alloc_box), for a value that owns `bytes` bytes on the heap.
    /// The more memory these blocks own, the more often OCaml collects. Without this number, OCaml
    /// counts a buffer of a megabyte as a block of a few words, and gigabytes of garbage may wait
    /// for the next collection.
    ///
    /// # Errors
    ///
    /// Same as [`alloc_box`](DomainLock::alloc_box).
    #[doc(alias("caml_alloc_custom_mem"))]
    pub fn alloc_box_owning<'l, T: Send + 'static>(
        &'l mut self,
        value: T,
        bytes: usize,
    ) -> Result<(Value<'l, OCamlBox<T>>, &'l DomainLock), ConversionError> {
        Holder::new(None, value)?.into_box(self, bytes, ptr::null())
    }

    /// Like [`alloc_box_owning`](DomainLock::alloc_box_owning), for a value that OCaml can compare,
    /// hash or marshal.
    ///
    /// # Panics
    ///
    /// If another type is marshalled under the same name.
    ///
    /// # Errors
    ///
    /// Same as [`alloc_box`](DomainLock::alloc_box).
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

    /// Tells the collector that a Rust value in OCaml has come to own `bytes` more bytes since
    /// [`alloc_box_owning`](DomainLock::alloc_box_owning), so that it collects sooner. There is no
    /// way to report that a value owns less, because OCaml counts allocations, not the memory in
    /// use.
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

    /// Lets OCaml unmarshal values of type `T` in a program that has not yet made one with
    /// [`alloc_custom`](DomainLock::alloc_custom).
    ///
    /// # Panics
    ///
    /// Same as [`alloc_custom`](DomainLock::alloc_custom).
    pub fn unmarshal<T: Custom>(&self) {
        registered::<T>(self);
    }
}

impl<T: 'static> Holder<T> {
    /// Allocates a block that owns the value. `registered` may be NULL. The collector may run.
    fn into_box(
        self,
        lock: &mut DomainLock,
        bytes: usize,
        registered: *const c_void,
    ) -> Made<'_, OCamlBox<T>> {
        let (held, size) = (self.give(), size_of::<Held<T>>().saturating_add(bytes));
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector
        // may run. The block owns the `Held` from now on. `registered` is NULL or the type of the
        // value.
        let raw = unsafe { ffi::obx_alloc_box(held, size, registered) };
        if raw == 0 {
            // SAFETY: there is no block, so nothing else owns the `Held`.
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

/// The Rust value in an OCaml value of any type, if that is a block of this crate with a `T`.
fn find<T: 'static>(value: Value<'_, OCamlAny>) -> Option<&T> {
    // SAFETY: the function takes any live value.
    let is_ours = unsafe { ffi::obx_is_box(value.raw()) } != 0;
    // SAFETY: the block is from this crate (just checked).
    is_ours.then(|| unsafe { downcast(value) }).flatten()
}

/// The Rust value of a block, if it is a `T` of this library.
///
/// # Safety
///
/// The block is from `alloc_box`, perhaps of another copy of this crate.
unsafe fn downcast<T: 'static>(block: Value<'_, OCamlAny>) -> Option<&T> {
    // SAFETY: the block points to a `Held` (caller). The layout of its first fields does
    // not depend on the type of its value (`repr(C)`), which `id` identifies. Only the block's
    // finaliser drops it, and the collector does not run during the lifetime of `block`.
    unsafe {
        let held = *(block.raw() as *const *const Held<()>).add(1);
        match (*held).copy == &raw const COPY && (*held).id == TypeId::of::<T>() {
            true => Some(&(*held.cast::<Held<T>>()).value),
            false => None,
        }
    }
}

impl<'l, T: Sync + 'static> Value<'l, OCamlBox<T>> {
    /// The Rust value, if this is a block of this crate with a `T`. `None` for any other OCaml
    /// value, and for a Rust value of another type.
    pub fn try_get(self) -> Option<&'l T> {
        find(self.any())
    }

    /// The Rust value.
    ///
    /// # Panics
    ///
    /// If the block has a Rust value of another type (two crates use different Rust types for one
    /// OCaml type), if another library (`cdylib`) made the block, or if this is an `int`. In
    /// [builds with checks](crate#builds-with-checks), also if this is not a block with a `T`.
    #[doc(alias = "Data_custom_val")]
    #[track_caller]
    pub fn get(self) -> &'l T {
        self.checked();
        // OCaml's `%identity` may convert an `int` to this type: bindings of another crate may not
        // know that Rust implements it.
        let found = match self.any().is_immediate() {
            true => None,
            // SAFETY: `self` is a block from `alloc_box` (by its type). Other threads may also read
            // the value, because `T` is `Sync`.
            false => unsafe { downcast(self.any()) },
        };
        match found {
            Some(value) => value,
            None => panic!("boxroot: {}", mismatch(self)),
        }
    }
}

/// Drops a `Held<T>`. The finaliser of its block calls this (`c/box.c`).
///
/// # Safety
///
/// `held` is a `Held<T>` from `alloc_box`, and is not used again.
unsafe extern "C" fn drop_held<T>(held: *mut Held<()>) {
    unsafe fn drop_it<T>(held: *mut Held<()>) {
        // SAFETY: `held` is a `Held<T>` that `Holder::new` made, and is not used again (caller's
        // promise).
        drop(unsafe { Box::from_raw(held.cast::<Held<T>>()) })
    }
    // SAFETY: `held` is not used again (caller), and the block's finaliser is running.
    let _ = unsafe { guarded(&mut || drop_it::<T>(held)) };
}

/// Calls `f`, and catches a panic, which the panic hook has already reported.
///
/// # Safety
///
/// OCaml has called this on a thread that holds the lock, or that collects for such a thread.
unsafe fn guarded(f: &mut dyn FnMut()) -> Result<(), &'static str> {
    // On OCaml 5, the library identifies this thread before `f` can change the thread's signal
    // mask.
    let _ = sys::lock_state();
    // SAFETY: the lock is held, perhaps during a collection (caller).
    catch_unwind(AssertUnwindSafe(|| unsafe { below_handlers(f) })).map_err(|payload| {
        // The payload is not dropped, because its own `drop` might also panic.
        std::mem::forget(payload);
        "a Rust function panicked"
    })
}

/// A Rust type whose boxes ([`OCamlBox`]) can be compared, hashed or marshalled by OCaml's
/// polymorphic functions. [`alloc_custom`](DomainLock::alloc_custom) makes these boxes.
///
/// OCaml calls the type's functions from within functions of its runtime, so
/// [`attach`](DomainLock::attach) returns [`AlreadyHeld`](crate::AttachError::AlreadyHeld) in them.
/// They must not wait for a thread that may be waiting for OCaml's lock.
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
/// OCaml can sort these values with `compare`, and use them as keys of maps and hash tables.
pub trait Custom: Send + Sync + Sized + 'static {
    /// The functions that OCaml can call.
    const OPERATIONS: CustomOperations<Self>;
}

/// The functions that OCaml can call for a [`Custom`] type. Other operations behave as for an
/// [`OCamlBox`] of a type that is not `Custom`.
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
    /// No functions.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        CustomOperations { compare: None, hash: None, marshal: None }
    }

    /// Makes OCaml's `compare`, `=`, `<` and so on use Rust's [`Ord`]. Values of different types
    /// are never equal. If the function panics, OCaml raises the exception `Failure`.
    pub const fn compare(mut self) -> Self
    where
        T: Ord,
    {
        self.compare = Some(T::cmp);
        self
    }

    /// Makes OCaml's `Hashtbl.hash` use Rust's [`Hash`]. The hash is the same in every run of a
    /// program. It is 0 if the function panics.
    pub const fn hash(mut self) -> Self
    where
        T: Hash,
    {
        self.hash = Some(hash);
        self
    }

    /// Makes OCaml's `Marshal` write the bytes that `to_bytes` returns, and read them with
    /// `from_bytes`. The name identifies the type in the data. No other type may have the same
    /// name, and the name must stay the same when the program changes.
    ///
    /// If a function returns an error or panics, OCaml raises `Failure` with at most 255 bytes of
    /// the text. OCaml also raises `Failure` if it reads a value of a type for which the program
    /// has neither made a value nor called [`unmarshal`](DomainLock::unmarshal).
    ///
    /// If `to_bytes` fails, OCaml leaks the memory of what it has written so far, 8 KB or more.
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
    /// As always with OCaml's `Marshal`, reading data from an untrusted source is dangerous.
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
    /// The operations of `T`.
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

/// The result of [`compare_held`] if it fails.
const FAILED: c_int = 2;

/// Compares the value of a box of `T` with that of another box.
///
/// # Safety
///
/// OCaml is comparing the boxes. `text` has room for [`ffi::ERROR_SIZE`] bytes.
unsafe extern "C" fn compare_held<T: Custom>(
    a: *const Held<()>,
    b: *const Held<()>,
    text: *mut c_char,
) -> c_int {
    // SAFETY: the boxes are live (caller).
    let [first, second] = [a, b].map(|held| unsafe { ((*held).id, (*held).copy) });
    if first != second {
        return first.cmp(&second) as c_int;
    }
    let mut order = Ordering::Equal;
    // SAFETY: OCaml has called this (caller). Both boxes hold a `T`: the first has these
    // operations, and the second has the same id. One copy of this crate made both.
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

/// Hashes a box of `T`.
///
/// # Safety
///
/// OCaml is hashing the box, which holds a `T`.
unsafe extern "C" fn hash_held<T: Custom>(held: *const Held<()>) -> u32 {
    let mut n = 0;
    // SAFETY: OCaml has called this, and the box holds a `T` (caller).
    let _ = unsafe {
        guarded(&mut || {
            if let Some(hash) = T::OPERATIONS.hash {
                n = hash(&(*held.cast::<Held<T>>()).value)
            }
        })
    };
    n
}

/// Marshals a box of `T`: the type's name, a 0, and the value's bytes. [`free_bytes`] frees them.
///
/// # Safety
///
/// OCaml is marshalling the box, which holds a `T`. `text` has room for [`ffi::ERROR_SIZE`] bytes.
unsafe extern "C" fn write_held<T: Custom>(
    held: *const Held<()>,
    length: &mut usize,
    text: *mut c_char,
) -> *mut u8 {
    let mut bytes = Err(String::new());
    // SAFETY: OCaml has called this, and the box holds a `T` (caller).
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
/// `bytes` comes from [`write_held`], and is not used again.
unsafe extern "C" fn free_bytes(bytes: *mut u8, length: usize) {
    // SAFETY: the bytes come from a `Box` of this length (caller).
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(bytes, length)) })
}

/// Writes a text as a C string, truncated if it is too long.
///
/// # Safety
///
/// `place` has room for [`ffi::ERROR_SIZE`] bytes.
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
    /// The type's counterpart in C (`struct obx_type`).
    place: *const c_void,
    next: Option<&'static Registered>,
}

/// The type that was registered last. There is no mutex, because another thread might hold it
/// during a fork.
static REGISTERED: AtomicPtr<Registered> = AtomicPtr::new(ptr::null_mut());

fn last_registered() -> Option<&'static Registered> {
    // SAFETY: NULL, or a `Registered`, which is never changed or freed once it is stored.
    unsafe { REGISTERED.load(Acquire).as_ref() }
}

/// The type, if it was registered. Panics if another type has the same name.
fn find_registered(name: &str, id: TypeId) -> Option<&'static Registered> {
    let found = iter::successors(last_registered(), |entry| entry.next).find(|e| e.name == name);
    assert!(
        found.is_none_or(|entry| entry.id == id),
        "boxroot: two Rust types are marshalled under the name {name:?}; give each type its own name"
    );
    found
}

/// Registers the type unless it is already registered. `None` if OCaml cannot marshal it.
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
            // SAFETY: the entry comes from the `Box`, and was not stored: another domain was
            // faster.
            drop(unsafe { Box::from_raw(entry) });
        }
    }
}

/// Registers a type in C under this name, which must be new.
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

/// Unmarshals a `Held` from these bytes. If this fails, writes an error text and returns NULL.
///
/// # Safety
///
/// OCaml is unmarshalling `length` bytes. `text` has room for [`ffi::ERROR_SIZE`] bytes.
unsafe extern "C" fn read_held<T: Custom>(
    bytes: *const u8,
    length: usize,
    text: *mut c_char,
) -> *mut c_void {
    // SAFETY: there are `length` bytes (caller).
    let bytes = unsafe { std::slice::from_raw_parts(bytes, length) };
    let mut held = Err(String::new());
    // SAFETY: OCaml has called this (caller).
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
