use crate::{
    ffi, DomainLock, Error, FromOCaml, OCamlArray, OCamlBytes, OCamlChar, OCamlFloat, OCamlInt,
    OCamlInt32, OCamlInt64, OCamlList, OCamlNativeint, OCamlString,
};
use ocaml_boxroot_sys as sys;
use std::fmt;
use std::marker::PhantomData;
use std::str::Utf8Error;
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicU8, Ordering};

/// An OCaml value that is not rooted. It is valid until the garbage collector may run, that is, until the
/// token under which it was obtained is used as `&mut`. To keep the value longer, make a
/// [`Boxroot`](crate::Boxroot).
///
/// `T` names the OCaml type, for example [`OCamlInt`]. No value of type `T` is ever created in Rust.
pub struct Value<'l, T: ?Sized> {
    raw: sys::Value,
    /// Ends with the shared borrow of the token, and makes the type neither `Send` nor `Sync`.
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
    /// `raw` is a valid OCaml value (an immediate, or a pointer to a block with a header) and a `T`. It stays valid for
    /// `'l`, because a token of this thread is borrowed shared for `'l`, or because `raw` is an immediate.
    pub unsafe fn from_raw(raw: sys::Value) -> Self {
        Value { raw, _life: PhantomData }
    }

    /// The value, for the raw interface. It must not be used after `'l`.
    pub fn raw(self) -> sys::Value {
        self.raw
    }

    /// A field of a block. For crates that define markers for OCaml types of their own.
    ///
    /// # Safety
    ///
    /// The value is a block with more than `index` fields, and this one is a `U`.
    pub unsafe fn field<U: ?Sized>(self, index: usize) -> Value<'l, U> {
        let field = (self.raw as *mut sys::Value).wrapping_add(index);
        // SAFETY: the block is live and does not move in 'l, and has the field (caller). The load is atomic, because
        // another domain may be changing the field, and it acquires what that domain wrote before.
        let raw = unsafe { AtomicIsize::from_ptr(field) }.load(Ordering::Acquire);
        // SAFETY: `raw` was read from a live block, so it is live in 'l, and it is a `U` (caller).
        unsafe { Value::from_raw(raw) }
    }

    /// A copy of the value, as a Rust type; or a root for it, if `R` is a [`Boxroot<T>`](crate::Boxroot).
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](Error::OutOfRange), [`Mismatch`](Error::Mismatch) and [`NotUtf8`](Error::NotUtf8) if `R` cannot
    /// represent the value;
    /// [`TooDeep`](Error::TooDeep); [`OutOfMemory`](Error::OutOfMemory).
    #[track_caller]
    pub fn to_rust<R: FromOCaml<T>>(self, lock: &'l DomainLock) -> Result<R, Error> {
        R::from_ocaml(self, lock)
    }

    /// Whether the value is an immediate or a block, as its memory says, without regard to its type.
    ///
    /// ```
    /// use ocaml_boxroot::{Kind, Value};
    ///
    /// assert_eq!(Value::int(12).kind(), Kind::Immediate(12));
    /// ```
    pub fn kind(self) -> Kind {
        if self.is_immediate() {
            return Kind::Immediate(self.raw >> 1);
        }
        let mut size = 0;
        // SAFETY: the value is no immediate, and live in 'l.
        let tag = unsafe { ffi::obx_kind(self.raw, &mut size) };
        Kind::Block { tag: tag as u8, size }
    }

    pub(crate) fn is_immediate(self) -> bool {
        self.raw & 1 == 1
    }
}

/// What [`Value::kind`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer, a character, a boolean, a constant constructor (by number), or `()`.
    Immediate(isize),
    /// A block of the heap; or a pointer out of the heap, which values of abstract types may be on OCaml 4, as a block of
    /// tag 251 and size 0.
    Block {
        /// Below 244, the constructor's number (0 for tuples and records). Otherwise the kind of block, as in OCaml's module
        /// `Obj`: 252 is a string, 253 a float, 254 an array or record of floats in the flat form, 255 a custom block.
        tag: u8,
        /// The size in words, without the header.
        size: usize,
    },
}

impl Value<'_, ()> {
    /// OCaml's `()`.
    pub fn unit() -> Value<'static, ()> {
        // SAFETY: 1 is the immediate 0, which is `()`.
        unsafe { Value::from_raw(1) }
    }
}

impl Value<'_, OCamlInt> {
    /// An OCaml integer. It is an immediate, which is always valid. OCaml's integers have one bit less
    /// than `isize`: the highest bit of `n` is lost, as in OCaml's own arithmetic.
    pub fn int(n: isize) -> Value<'static, OCamlInt> {
        // SAFETY: an immediate, by its lowest bit, and so an `int`.
        unsafe { Value::from_raw((n << 1) | 1) }
    }

    /// The integer.
    pub fn to_int(self) -> isize {
        self.raw >> 1
    }
}

impl<'l> Value<'l, OCamlString> {
    /// The string's bytes, without a copy.
    pub fn as_bytes(self) -> &'l [u8] {
        // SAFETY: the value is a live string (type and lifetime). The collector does not run in 'l, so the string
        // does not move. Strings do not change.
        unsafe {
            let length = ffi::obx_string_length(self.raw);
            std::slice::from_raw_parts(self.raw as *const u8, length)
        }
    }

    /// The string, without a copy.
    ///
    /// # Errors
    ///
    /// If it is not UTF-8.
    pub fn as_str(self) -> Result<&'l str, Utf8Error> {
        std::str::from_utf8(self.as_bytes())
    }

    /// A copy of the string's bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    /// A copy of the string, where U+FFFD replaces what is not UTF-8. To a `String`, [`to_rust`](Value::to_rust) copies
    /// only what is.
    pub fn to_string_lossy(self) -> String {
        String::from_utf8_lossy(self.as_bytes()).into_owned()
    }
}

impl<'l> Value<'l, OCamlBytes> {
    /// A copy of the bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        self.bytes().collect()
    }

    pub(crate) fn bytes(self) -> impl ExactSizeIterator<Item = u8> + use<'l> {
        let bytes = self.raw as *mut u8;
        // SAFETY: the value is a live byte sequence (type and lifetime).
        let length = unsafe { ffi::obx_string_length(self.raw) };
        // SAFETY: the value does not move in 'l. Each byte is loaded atomically, because another domain may be changing
        // it.
        (0..length)
            .map(move |i| unsafe { AtomicU8::from_ptr(bytes.add(i)) }.load(Ordering::Relaxed))
    }
}

impl Value<'_, OCamlChar> {
    /// An OCaml character, which is a byte.
    pub fn char(byte: u8) -> Value<'static, OCamlChar> {
        // SAFETY: an immediate, by its lowest bit, from 0 to 255, and so a `char`.
        unsafe { Value::from_raw(isize::from(byte) << 1 | 1) }
    }

    /// The byte.
    pub fn to_byte(self) -> u8 {
        (self.raw >> 1) as u8
    }
}

impl Value<'_, OCamlInt32> {
    /// The number.
    pub fn to_int32(self) -> i32 {
        // SAFETY: the value is a live `int32` (type and lifetime).
        unsafe { ffi::obx_int32(self.raw) }
    }
}

impl Value<'_, OCamlInt64> {
    /// The number.
    pub fn to_int64(self) -> i64 {
        // SAFETY: the value is a live `int64` (type and lifetime).
        unsafe { ffi::obx_int64(self.raw) }
    }
}

impl Value<'_, OCamlNativeint> {
    /// The number.
    pub fn to_nativeint(self) -> isize {
        // SAFETY: the value is a live `nativeint` (type and lifetime).
        unsafe { ffi::obx_nativeint(self.raw) }
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
        // SAFETY: the value is a live float (type and lifetime).
        unsafe { ffi::obx_float(self.raw) }
    }
}

impl<'l, T> Value<'l, Option<T>> {
    /// `Some` with the value in it, or `None`.
    pub fn to_option(self) -> Option<Value<'l, T>> {
        // SAFETY: a block is `Some x`, whose field 0 is x (type).
        (!self.is_immediate()).then(|| unsafe { self.field(0) })
    }
}

impl<'l, T, E> Value<'l, Result<T, E>> {
    /// `Ok` or `Err`, with the value in it.
    pub fn to_result(self) -> Result<Value<'l, T>, Value<'l, E>> {
        let is_ok = matches!(self.kind(), Kind::Block { tag: 0, .. });
        // SAFETY: `Ok x` is a block of tag 0 whose field 0 is x, and `Error x` one of tag 1 (type).
        unsafe {
            match is_ok {
                true => Ok(self.field(0)),
                false => Err(self.field(0)),
            }
        }
    }
}

impl<'l, A, B> Value<'l, (A, B)> {
    /// The two components.
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
            // SAFETY: a list that is not an immediate is a block with the first element and the rest (type).
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
        // SAFETY: the value is a live array (type and lifetime).
        unsafe { ffi::obx_size(self.raw) }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The element at `index`, if there is one. Always `None` for an array in the flat form of floats, whose
    /// elements are numbers and not values; see [`get_float`](Value::get_float).
    pub fn get(self, index: usize) -> Option<Value<'l, T>> {
        let is_there = !self.is_flat_floats() && index < self.len();
        // SAFETY: an array that is not flat is a block of its elements (type), and has this one (just checked).
        is_there.then(|| unsafe { self.field(index) })
    }

    /// The elements, from the first to the last. None for an array in the flat form of floats, which has
    /// [`floats`](Value::floats). Each element is read when it is asked for; another domain may change it before.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Value<'l, T>> {
        let length = if self.is_flat_floats() { 0 } else { self.len() };
        // SAFETY: an array that is not flat is a block of its elements (type). Its length does not change.
        (0..length).map(move |index| unsafe { self.field(index) })
    }
}

impl<'l> Value<'l, OCamlArray<OCamlFloat>> {
    /// The number at `index`, if there is one.
    pub fn get_float(self, index: usize) -> Option<f64> {
        match self.get(index) {
            Some(boxed) => Some(boxed.to_float()),
            None => self.flat_float(index),
        }
    }

    /// The numbers, from the first to the last.
    pub fn floats(self) -> impl ExactSizeIterator<Item = f64> + use<'l> {
        (0..self.len()).map(move |index| self.get_float(index).expect("the length does not change"))
    }
}

impl<T: ?Sized> Value<'_, T> {
    /// The number at `index` of an array or a record in the flat form of floats. `None` if the value does not have this
    /// form, or is too short.
    pub(crate) fn flat_float(self, index: usize) -> Option<f64> {
        // SAFETY: the size is read only if the value is a block, which is live.
        if !self.is_flat_floats() || index >= unsafe { ffi::obx_size(self.raw) } {
            return None;
        }
        let element = (self.raw as *mut u64).wrapping_add(index);
        // SAFETY: a live block of floats, which has this one (just checked). The load is atomic, because another
        // domain may be changing the number.
        Some(f64::from_bits(unsafe { AtomicU64::from_ptr(element) }.load(Ordering::Relaxed)))
    }

    pub(crate) fn is_flat_floats(self) -> bool {
        // SAFETY: the tag is read only if the value is a block, which is live.
        !self.is_immediate() && unsafe { ffi::obx_is_flat_floats(self.raw) != 0 }
    }
}

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
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may run. The
        // function copies the bytes and does not raise.
        let raw = unsafe { ffi::obx_alloc_string(bytes.as_ptr().cast(), bytes.len()) };
        if raw == 0 {
            return Err(Error::OutOfMemory);
        }
        // SAFETY: `raw` is a new string. The collector does not run in 'l, because the token is only borrowed shared.
        Ok((unsafe { Value::from_raw(raw) }, self))
    }
}
