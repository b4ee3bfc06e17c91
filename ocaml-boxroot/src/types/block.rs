//! Allocates blocks in the OCaml heap. Their fields are the values of roots.

use super::kept::Kept;
use super::Made;
use crate::raw::{DomainLockExt, ValueExt};
use crate::{ffi, ConversionError, ConversionErrorKind, DomainLock, Value};
use ocaml_boxroot_sys as sys;

/// The highest tag of a constructor: OCaml's `Obj.last_non_constant_constructor_tag`.
pub(crate) const LAST_CONSTRUCTOR: u8 = if cfg!(ocaml4) { 245 } else { 243 };

/// The size in words of the largest block in a minor heap: OCaml's `Max_young_wosize`.
pub(super) const MAX_SMALL: usize = 256;

/// Wraps a value that was just allocated. If `raw` is 0, memory ran out.
///
/// # Safety
///
/// `raw` is 0, or a valid value of type `T`. The collector has not run since it was allocated.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn made<T: ?Sized>(raw: sys::Value, lock: &DomainLock) -> Made<'_, T> {
    if raw == 0 {
        return Err(ConversionError::new(ConversionErrorKind::OutOfMemory));
    }
    // SAFETY: `raw` is valid and a `T` (caller), and the collector does not run while the
    // token is borrowed.
    Ok((unsafe { Value::from_raw(raw) }, lock))
}

/// Allocates a block with this tag and these fields.
///
/// # Safety
///
/// Such a block is a `T`. It has at least one field, and the tag is a constructor's.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn block<'l, T: ?Sized, const N: usize>(
    lock: &'l mut DomainLock,
    tag: u8,
    fields: [Kept<'_>; N],
) -> Made<'l, T> {
    if N > MAX_SMALL {
        let places = fields.each_ref().map(Kept::place);
        // SAFETY: a block with this tag and these fields is a `T` (caller).
        return unsafe { lock.alloc_block(tag, &places) };
    }
    // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may
    // run. The block is not too large for this function. Its fields are written while nothing else
    // refers to it, and with them it is a `T` (caller). The collector has not run since the block
    // was allocated.
    unsafe {
        let raw = ffi::caml_alloc_small(N, tag.into());
        Kept::take_all(fields, raw as *mut sys::Value, lock);
        made(raw, lock)
    }
}
