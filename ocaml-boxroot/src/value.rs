use crate::{ffi, DomainLock, Error, FromOCaml};
use ocaml_boxroot_sys as sys;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicU8, Ordering};

/// An OCaml value that nothing keeps alive: valid until the garbage collector may run, that
/// is, until the token it was obtained under is used mutably. To keep it, make a
/// [`Boxroot`](crate::Boxroot).
///
/// `T` says what the value is. It is only a name: a `T` is never created.
pub struct Value<'l, T: ?Sized> {
    raw: sys::Value,
    /// Dies with the lock's shared borrow, and is neither Send nor Sync.
    _life: PhantomData<(&'l DomainLock, *const T)>,
}

impl<T: ?Sized> Clone for Value<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Value<'_, T> {}

impl<T: ?Sized> fmt::Debug for Value<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({:#x})", self.raw)
    }
}

impl<'l, T: ?Sized> Value<'l, T> {
    /// A value from the raw interface.
    ///
    /// # Safety
    ///
    /// `raw` is a valid OCaml value and a `T`, and stays so for `'l`: a token of this thread is
    /// borrowed, shared, that long; or `raw` is an immediate.
    pub unsafe fn from_raw(raw: sys::Value) -> Self {
        Value { raw, _life: PhantomData }
    }

    /// The value for the raw interface. It must not be kept longer than `'l`.
    pub fn raw(self) -> sys::Value {
        self.raw
    }

    /// A field of a block. For crates that read types of their own.
    ///
    /// # Safety
    ///
    /// The value is a block with more than `index` fields, and this one is a `U`.
    pub unsafe fn field<U: ?Sized>(self, index: usize) -> Value<'l, U> {
        let field = (self.raw as *mut sys::Value).wrapping_add(index);
        // SAFETY: the block is live and does not move ('l), and has the field (caller). Another
        // domain may be changing it: the load is atomic, and acquires what the other wrote before.
        let raw = unsafe { AtomicIsize::from_ptr(field) }.load(Ordering::Acquire);
        // SAFETY: reachable from a live value, and a `U` (caller).
        unsafe { Value::from_raw(raw) }
    }

    /// A copy of the value, as a Rust type.
    pub fn to_rust<R: FromOCaml<T>>(self) -> R {
        R::from_ocaml(self)
    }

    fn is_immediate(self) -> bool {
        self.raw & 1 == 1
    }
}

/// The type of OCaml's `int`, for `Value<OCamlInt>` and `Boxroot<OCamlInt>`.
#[derive(Debug)]
pub enum OCamlInt {}

/// The type of OCaml's `float`.
#[derive(Debug)]
pub enum OCamlFloat {}

/// The type of OCaml's `string`.
#[derive(Debug)]
pub enum OCamlString {}

/// The type of OCaml's `bytes`.
#[derive(Debug)]
pub enum OCamlBytes {}

/// The type of OCaml's `T list`.
pub struct OCamlList<T>(PhantomData<T>, Uninhabited);

/// The type of OCaml's `T array`; of floats, too.
pub struct OCamlArray<T>(PhantomData<T>, Uninhabited);

enum Uninhabited {}

impl Value<'_, ()> {
    /// OCaml's `()`.
    pub fn unit() -> Value<'static, ()> {
        // SAFETY: an immediate.
        unsafe { Value::from_raw(1) }
    }
}

impl Value<'_, OCamlInt> {
    /// An OCaml integer: an immediate, which never dies. OCaml's integers have one bit less
    /// than Rust's: the highest bit of `n` is lost, as in OCaml's own arithmetic.
    pub fn int(n: isize) -> Value<'static, OCamlInt> {
        // SAFETY: an immediate.
        unsafe { Value::from_raw((n << 1) | 1) }
    }

    /// The integer.
    pub fn to_int(self) -> isize {
        self.raw >> 1
    }
}

impl Value<'_, OCamlString> {
    /// A copy of the string's bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        // SAFETY: the value is a live string (type and lifetime), and this thread holds the
        // lock (lifetime), so the string does not move while it is copied. Strings do not
        // change.
        unsafe {
            let length = ffi::obx_string_length(self.raw);
            std::slice::from_raw_parts(self.raw as *const u8, length).to_vec()
        }
    }

    /// A copy of the string; bytes that are not UTF-8 are replaced.
    pub fn to_text(self) -> String {
        String::from_utf8_lossy(&self.to_bytes()).into_owned()
    }
}

impl Value<'_, OCamlBytes> {
    /// A copy of the bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        // SAFETY: live bytes (type and lifetime) that do not move while they are copied. Another
        // domain may be changing them: each is loaded atomically.
        unsafe {
            let bytes = self.raw as *mut u8;
            (0..ffi::obx_string_length(self.raw))
                .map(|i| AtomicU8::from_ptr(bytes.add(i)).load(Ordering::Relaxed))
                .collect()
        }
    }
}

impl Value<'_, bool> {
    /// The boolean.
    pub fn to_bool(self) -> bool {
        self.raw != 1
    }
}

impl Value<'_, OCamlFloat> {
    /// The number.
    pub fn to_float(self) -> f64 {
        // SAFETY: a live float (type and lifetime).
        unsafe { ffi::obx_float(self.raw) }
    }
}

impl<'l, T> Value<'l, Option<T>> {
    /// `Some` with the value in it, or `None`.
    pub fn to_option(self) -> Option<Value<'l, T>> {
        // SAFETY: `Some x` is a block whose field is x (type).
        (!self.is_immediate()).then(|| unsafe { self.field(0) })
    }
}

impl<'l, A, B> Value<'l, (A, B)> {
    /// The components.
    pub fn to_pair(self) -> (Value<'l, A>, Value<'l, B>) {
        // SAFETY: a pair is a block of two fields (type).
        unsafe { (self.field(0), self.field(1)) }
    }
}

impl<'l, T> Value<'l, OCamlList<T>> {
    /// The elements, from the first to the last.
    pub fn iter(self) -> impl Iterator<Item = Value<'l, T>> {
        let mut rest = self;
        std::iter::from_fn(move || {
            if rest.is_immediate() {
                return None;
            }
            // SAFETY: a cons cell is a block of the first element and the rest (type).
            unsafe {
                let first = rest.field(0);
                rest = rest.field(1);
                Some(first)
            }
        })
    }
}

impl<'l, T> Value<'l, OCamlArray<T>> {
    /// The number of elements.
    pub fn len(self) -> usize {
        // SAFETY: a live array (type and lifetime).
        unsafe { ffi::obx_size(self.raw) / if self.is_flat_floats() { FLOAT_WORDS } else { 1 } }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The element at `index`, if there is one. `None` too in an array of floats, which has no
    /// elements that are values; [`to_rust`](Value::to_rust) copies one.
    pub fn get(self, index: usize) -> Option<Value<'l, T>> {
        let is_there = !self.is_flat_floats() && index < self.len();
        // SAFETY: an array is a block of its elements (type), unless it is flat.
        is_there.then(|| unsafe { self.field(index) })
    }

    /// The element at `index` of an array of floats.
    pub(crate) fn get_float(self, index: usize) -> Option<f64> {
        if !self.is_flat_floats() || index >= self.len() {
            return None;
        }
        let element = (self.raw as *mut u64).wrapping_add(index);
        // SAFETY: a flat array of floats is live and has this element. Another domain may be
        // changing it: the load is atomic.
        Some(f64::from_bits(unsafe { AtomicU64::from_ptr(element) }.load(Ordering::Relaxed)))
    }

    pub(crate) fn is_flat_floats(self) -> bool {
        // SAFETY: a live array (type and lifetime).
        unsafe { ffi::obx_is_flat_floats(self.raw) != 0 }
    }
}

/// How many words of the heap a float takes.
const FLOAT_WORDS: usize = size_of::<f64>() / size_of::<sys::Value>();

impl DomainLock {
    /// Allocates an OCaml string with these bytes. The garbage collector may run.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn alloc_string<'l>(
        &'l mut self,
        bytes: impl AsRef<[u8]>,
    ) -> Result<(Value<'l, OCamlString>, &'l DomainLock), Error> {
        let bytes = bytes.as_ref();
        // SAFETY: the token proves that the lock is held; the function copies the bytes and
        // does not raise.
        let raw = unsafe { ffi::obx_alloc_string(bytes.as_ptr().cast(), bytes.len()) };
        if raw == 0 {
            return Err(Error::OutOfMemory);
        }
        // SAFETY: a new string; the token is borrowed, shared, for 'l.
        Ok((unsafe { Value::from_raw(raw) }, self))
    }
}
