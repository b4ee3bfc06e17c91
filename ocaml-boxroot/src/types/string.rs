//! Strings and bytes.

use super::block::{made, MAX_SMALL};
use super::form::{Form, STRING_TAG};
use super::memory::{copied, copied_atomically};
use super::{FromOCaml, Made, ToOCaml};
use crate::raw::ValueExt;
use crate::{ffi, ConversionError, DomainLock, Kind, OCamlAny, Value};
use std::alloc::{handle_alloc_error, Layout};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::Utf8Error;
use std::sync::atomic::AtomicUsize;
use std::sync::Arc;

marker! {
    /// The type of OCaml's `string`.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{Boxroot, OCamlString, ToOCaml};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let text: Boxroot<OCamlString> = "kept".to_ocaml(lock)?;
    /// assert_eq!(text.to_rust::<String>(lock)?, "kept");
    /// # Ok(()) });
    /// ```
    OCamlString;
    /// The type of OCaml's `bytes`.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{Boxroot, OCamlBytes, ToOCaml};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let bytes: Boxroot<OCamlBytes> = [0, 255].to_ocaml(lock)?;
    /// assert_eq!(bytes.to_rust::<Vec<u8>>(lock)?, [0, 255]);
    /// # Ok(()) });
    /// ```
    OCamlBytes;
}

impl Form for OCamlString {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        matches!(value.kind(), Kind::Block { tag: STRING_TAG, .. })
    }
}

/// Bytes and strings look the same in memory.
impl Form for OCamlBytes {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        OCamlString::is_form_of(value)
    }
}

impl<T> Value<'_, T> {
    /// The number of bytes.
    ///
    /// # Safety
    ///
    /// The value is a string or a byte sequence.
    #[inline]
    unsafe fn length(self) -> usize {
        // SAFETY: the value is a string or a byte sequence of this size (caller).
        unsafe { self.length_in(self.size_of_block()) }
    }

    /// The number of bytes in a block of this size.
    ///
    /// # Safety
    ///
    /// The value is a string or a byte sequence in a block of this size.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn length_in(self, size: usize) -> usize {
        let last = size * size_of::<usize>() - 1;
        // SAFETY: the last byte of this block (caller) is the number of padding bytes
        // before it.
        last - usize::from(unsafe { *(self.raw() as *const u8).add(last) })
    }
}

impl<'l> Value<'l, OCamlString> {
    /// The string's bytes, not copied.
    #[doc(alias("String_val", "caml_string_length"))]
    #[track_caller]
    #[inline]
    pub fn as_bytes(self) -> &'l [u8] {
        self.checked();
        // SAFETY: the value is a live string (by its type and lifetime). The collector does not run
        // during 'l, so the string does not move. Strings are immutable.
        unsafe { std::slice::from_raw_parts(self.raw() as *const u8, self.length()) }
    }

    /// The string as a `str`, not copied.
    ///
    /// # Errors
    ///
    /// If the string is not UTF-8.
    #[doc(alias = "String_val")]
    #[track_caller]
    #[inline]
    pub fn as_str(self) -> Result<&'l str, Utf8Error> {
        let bytes = self.as_bytes();
        if self.is_ascii() {
            // SAFETY: ASCII is UTF-8.
            return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
        }
        std::str::from_utf8(bytes)
    }

    /// Whether all bytes are ASCII. Checks whole words: the padding in the last one is also ASCII.
    #[inline]
    fn is_ascii(self) -> bool {
        const HIGH: usize = usize::from_ne_bytes([0x80; size_of::<usize>()]);
        // SAFETY: the value is a live string (by its type and lifetime), in a block of this size.
        // Strings are immutable.
        let words =
            unsafe { std::slice::from_raw_parts(self.raw() as *const usize, self.size_of_block()) };
        words.iter().fold(0, |all, word| all | word) & HIGH == 0
    }

    /// Copies the string's bytes. Aborts if out of memory, like [`slice::to_vec`];
    /// [`to_rust`](Value::to_rust) to a `Vec<u8>` returns an error instead.
    #[track_caller]
    pub fn to_bytes(self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    /// Copies the string, replacing invalid UTF-8 with U+FFFD. Aborts if out of memory, like
    /// [`String::from_utf8_lossy`]. In both cases, [`to_rust`](Value::to_rust) to a `String`
    /// returns an error instead.
    #[track_caller]
    pub fn to_string_lossy(self) -> String {
        String::from_utf8_lossy(self.as_bytes()).into_owned()
    }
}

impl<'l> Value<'l, OCamlBytes> {
    /// Copies the bytes. Aborts if out of memory, like [`slice::to_vec`];
    /// [`to_rust`](Value::to_rust) to a `Vec<u8>` returns an error instead.
    #[doc(alias = "Bytes_val")]
    #[track_caller]
    pub fn to_bytes(self) -> Vec<u8> {
        match self.copied() {
            Ok(copy) => copy,
            Err(_) => handle_alloc_error(Layout::for_value(self.words().0)),
        }
    }

    /// A copy of the bytes.
    #[inline]
    #[track_caller]
    pub(crate) fn copied(self) -> Result<Vec<u8>, ConversionError> {
        let (words, length) = self.words();
        copied_atomically(words, length)
    }

    /// The words of the block, which begin with the bytes, and the number of bytes.
    #[inline]
    #[track_caller]
    pub(crate) fn words(self) -> (&'l [AtomicUsize], usize) {
        // SAFETY: the value is a byte sequence (by its type).
        let size = unsafe { self.checked().size_of_block() };
        let words = self.raw() as *const AtomicUsize;
        // SAFETY: the block has `size` words, and does not move during 'l. The words are atomic,
        // because another domain may be changing bytes.
        let words = unsafe { std::slice::from_raw_parts(words, size) };
        // SAFETY: the value is a byte sequence (by its type), and its block has this size.
        (words, unsafe { self.length_in(size) })
    }
}

impl DomainLock {
    /// Allocates an OCaml string with these bytes. The collector may run.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    #[doc(alias("caml_copy_string", "caml_alloc_string", "caml_alloc_initialized_string"))]
    pub fn alloc_string<'l>(
        &'l mut self,
        bytes: impl AsRef<[u8]>,
    ) -> Result<(Value<'l, OCamlString>, &'l DomainLock), ConversionError> {
        self.string(bytes.as_ref())
    }

    #[inline]
    fn string<'l>(&'l mut self, bytes: &[u8]) -> Made<'l, OCamlString> {
        let words = bytes.len() / size_of::<usize>() + 1;
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector
        // may run. The C function copies the bytes, and does not raise. A string is a block with
        // this tag. Its last byte is the number of padding bytes before it, which are all in the
        // last word.
        unsafe {
            if words > MAX_SMALL {
                return made(ffi::obx_alloc_string(bytes.as_ptr().cast(), bytes.len()), self);
            }
            let raw = ffi::caml_alloc_small(words, STRING_TAG.into());
            let last = words * size_of::<usize>() - 1;
            *(raw as *mut usize).add(words - 1) = 0;
            let first = raw as *mut u8;
            *first.add(last) = (last - bytes.len()) as u8;
            first.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            made(raw, self)
        }
    }
}

macro_rules! strings {
    ($($rust:ty $(, $n:ident)?: $bytes:expr;)*) => {$(
        impl$(<const $n: usize>)? ToOCaml<OCamlString> for $rust {
            const NESTS: bool = false;

            #[inline]
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlString> {
                let bytes: fn(&Self) -> &[u8] = $bytes;
                lock.string(bytes(self))
            }
        }
    )*};
}

macro_rules! bytes {
    ($($rust:ty $(, $n:ident)?;)*) => {$(
        impl$(<const $n: usize>)? ToOCaml<OCamlBytes> for $rust {
            const NESTS: bool = false;

            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlBytes> {
                let (value, lock) = lock.alloc_string(self)?;
                // SAFETY: bytes are laid out like a string, and nothing else refers to this new
                // string, so it may change.
                Ok((unsafe { Value::from_raw(value.raw()) }, lock))
            }
        }
    )*};
}

strings! {
    str: |text| text.as_bytes();
    String: |text| text.as_bytes();
    Cow<'_, str>: |text| text.as_bytes();
    OsStr: |text| text.as_bytes();
    OsString: |text| text.as_bytes();
    Path: |path| path.as_os_str().as_bytes();
    PathBuf: |path| path.as_os_str().as_bytes();
    [u8]: |bytes| bytes;
    [u8; N], N: |bytes| bytes;
    Vec<u8>: |bytes| bytes;
}

bytes! {
    [u8];
    [u8; N], N;
    Vec<u8>;
}

/// Returns [`NotUtf8`](crate::ConversionErrorKind::NotUtf8) for a string that is not UTF-8. A
/// `Vec<u8>` can hold any string, and [`Value::to_string_lossy`] replaces invalid UTF-8.
impl FromOCaml<OCamlString> for String {
    const NESTS: bool = false;

    #[inline]
    fn from_ocaml<'l>(
        value: Value<'l, OCamlString>,
        _: &'l DomainLock,
    ) -> Result<Self, ConversionError> {
        /// The result fits into two registers. Processors stall when a caller moves a `String` that
        /// was just stored in parts.
        #[inline(never)]
        fn copied_text(value: Value<'_, OCamlString>) -> Result<Box<str>, ConversionError> {
            let copy = copied(value.as_str()?.as_bytes())?.into_boxed_slice();
            // SAFETY: this is a copy of UTF-8.
            Ok(unsafe { std::str::from_boxed_utf8_unchecked(copy) })
        }
        copied_text(value).map(str::into_string)
    }

    with_form!(OCamlString);
}

/// Converts through another type.
macro_rules! strings_by {
    ($($by:ty: $($rust:ty),*;)*) => {
        from_ocaml! {$($(
            OCamlString => $rust: |value, lock| {
                Ok(<$by as FromOCaml<OCamlString>>::from_ocaml(value, lock)?.into())
            };
        )*)*}
    };
}

strings_by! {
    String: Cow<'static, str>, Box<str>, Rc<str>, Arc<str>;
    OsString: PathBuf;
}

from_ocaml! {
    /// Copies any bytes.
    OCamlString => OsString: |value, _| copied(value.as_bytes()).map(OsString::from_vec);
    OCamlString => Vec<u8>: |value, _| copied(value.as_bytes());
    OCamlBytes => Vec<u8>: |value, _| value.copied();
}
