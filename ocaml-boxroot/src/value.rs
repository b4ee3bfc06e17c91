use crate::{ffi, DomainLock, Error};
use ocaml_boxroot_sys as sys;
use std::fmt;
use std::marker::PhantomData;

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
}

/// The type of OCaml's `int`, for `Value<OCamlInt>` and `Boxroot<OCamlInt>`.
#[derive(Debug)]
pub enum OCamlInt {}

/// The type of OCaml's `string`.
#[derive(Debug)]
pub enum OCamlString {}

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
