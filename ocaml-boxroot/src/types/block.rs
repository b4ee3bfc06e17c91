//! Blocks of the OCaml heap, allocated with the values of roots as their fields.

use super::kept::Kept;
use super::Made;
use crate::{ffi, ConversionError, ConversionErrorKind, DomainLock, OCamlAny, RootRef, Value};
use ocaml_boxroot_sys as sys;

/// The highest tag of a constructor: `Obj.last_non_constant_constructor_tag` of OCaml.
pub(crate) const LAST_CONSTRUCTOR: u8 = if cfg!(ocaml4) { 245 } else { 243 };

/// The size of the largest blocks that OCaml allocates in a minor heap: `Max_young_wosize`.
pub(super) const MAX_SMALL: usize = 256;

impl DomainLock {
    /// A new block with these fields. The tag is 0 for a tuple or a record; for a constructor with arguments it is
    /// the constructor's number, counted from 0 among those with arguments. The collector may run.
    ///
    /// ```
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// use ocaml_boxroot::debug::Kind;
    /// use ocaml_boxroot::{Boxroot, OCamlInt, OCamlString, ToOCaml};
    ///
    /// let name: Boxroot<OCamlString> = "Paris".to_ocaml(lock)?;
    /// let height: Boxroot<OCamlInt> = 35.to_ocaml(lock)?;
    /// // SAFETY: a pair is a block of tag 0 with these fields.
    /// let (city, _) =
    ///     unsafe { lock.alloc_block::<(OCamlString, OCamlInt)>(0, &[name.as_any(), height.as_any()]) }?;
    /// assert_eq!(city.kind(), Kind::Block { tag: 0, size: 2 });
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::ConversionErrorKind::OutOfRange) if the tag is not a constructor's, that is, larger than 243 (on OCaml 4, 245);
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    ///
    /// # Safety
    ///
    /// A block with this tag and these fields is a `T`.
    pub unsafe fn alloc_block<'l, T: ?Sized>(
        &'l mut self,
        tag: u8,
        fields: &[&RootRef<OCamlAny>],
    ) -> Result<(Value<'l, T>, &'l DomainLock), ConversionError> {
        if tag > LAST_CONSTRUCTOR {
            return Err(ConversionError::new(ConversionErrorKind::OutOfRange));
        }
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may run. A
        // `&RootRef` is laid out like a pointer to its cell, which belongs to a live root.
        let raw = unsafe { ffi::obx_alloc_block(tag.into(), fields.len(), fields.as_ptr().cast()) };
        if raw == 0 {
            return Err(ConversionError::new(ConversionErrorKind::OutOfMemory));
        }
        // SAFETY: `raw` is a new block, and a `T` (caller). The collector does not run in 'l, because the token is
        // only borrowed shared.
        Ok((unsafe { Value::from_raw(raw) }, self))
    }
}

/// A value that was just allocated. A `raw` of 0 says that memory ran out.
///
/// # Safety
///
/// `raw` is 0, or a valid value and a `T`. The collector has not run since it was allocated.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn made<T: ?Sized>(raw: sys::Value, lock: &DomainLock) -> Made<'_, T> {
    if raw == 0 {
        return Err(ConversionError::new(ConversionErrorKind::OutOfMemory));
    }
    // SAFETY: `raw` is valid and a `T` (caller), and the collector does not run while the token is borrowed.
    Ok((unsafe { Value::from_raw(raw) }, lock))
}

/// A new block with this tag and these fields.
///
/// # Safety
///
/// Such a block is a `T`, and there is a field. The tag is that of a constructor.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn block<'l, T: ?Sized, const N: usize>(
    lock: &'l mut DomainLock,
    tag: u8,
    fields: [Kept<'_>; N],
) -> Made<'l, T> {
    if N > MAX_SMALL {
        let places = fields.each_ref().map(Kept::place);
        // SAFETY: such a block is a `T` (caller).
        return unsafe { lock.alloc_block(tag, &places) };
    }
    // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may run. The block is as small as this
    // function demands.
    let raw = unsafe { ffi::caml_alloc_small(N, tag.into()) };
    let first = raw as *mut sys::Value;
    for (i, field) in fields.iter().enumerate() {
        // SAFETY: the new block has this field, is young, and nobody else knows it yet.
        unsafe { first.add(i).write(field.place().get(lock).raw()) };
    }
    for field in fields {
        if let Kept::Copy(root) = field {
            root.delete_in(lock);
        }
    }
    // SAFETY: the block has all its fields, and is a `T` (caller). The collector has not run since it was allocated.
    unsafe { made(raw, lock) }
}
