//! Blocks of the OCaml heap, allocated with the values of roots as their fields.

use crate::{ffi, Boxroot, DomainLock, Error, OCamlAny, RootRef, Value};
use ocaml_boxroot_sys as sys;

/// The highest tag of a constructor: `Obj.last_non_constant_constructor_tag` of OCaml.
pub(crate) const LAST_CONSTRUCTOR: u8 = if cfg!(ocaml4) { 245 } else { 243 };

impl DomainLock {
    /// A new block with these fields. The tag is 0 for a tuple or a record; for a constructor with arguments it is
    /// the constructor's number, counted from 0 among those with arguments. The collector may run.
    ///
    /// ```
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// use ocaml_boxroot::{Boxroot, Kind, OCamlInt, OCamlString, ToOCaml};
    ///
    /// let name: Boxroot<OCamlString> = "Paris".to_ocaml(lock)?;
    /// let height: Boxroot<OCamlInt> = 35.to_ocaml(lock)?;
    /// // SAFETY: a pair is a block of tag 0 with these fields.
    /// let (city, _) =
    ///     unsafe { lock.alloc_block::<(OCamlString, OCamlInt)>(0, &[name.as_any(), height.as_any()]) }?;
    /// assert_eq!(city.kind(), Kind::Block { tag: 0, size: 2 });
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](Error::OutOfRange) if the tag is not a constructor's, that is, larger than 243 (on OCaml 4, 245);
    /// [`OutOfMemory`](Error::OutOfMemory).
    ///
    /// # Safety
    ///
    /// A block with this tag and these fields is a `T`.
    pub unsafe fn alloc_block<'l, T: ?Sized>(
        &'l mut self,
        tag: u8,
        fields: &[&RootRef<OCamlAny>],
    ) -> Result<(Value<'l, T>, &'l DomainLock), Error> {
        if tag > LAST_CONSTRUCTOR {
            return Err(Error::OutOfRange);
        }
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may run. A
        // `&RootRef` is laid out like a pointer to its cell, which belongs to a live root.
        let raw = unsafe { ffi::obx_alloc_block(tag.into(), fields.len(), fields.as_ptr().cast()) };
        if raw == 0 {
            return Err(Error::OutOfMemory);
        }
        // SAFETY: `raw` is a new block, and a `T` (caller). The collector does not run in 'l, because the token is
        // only borrowed shared.
        Ok((unsafe { Value::from_raw(raw) }, self))
    }
}

/// Roots a value that was just allocated. A `raw` of 0 says that memory ran out.
///
/// # Safety
///
/// `raw` is 0, or a valid value and a `T`. The collector has not run since it was allocated.
#[track_caller]
pub(crate) unsafe fn rooted<T: ?Sized>(
    raw: sys::Value,
    lock: &DomainLock,
) -> Result<Boxroot<T>, Error> {
    if raw == 0 {
        return Err(Error::OutOfMemory);
    }
    // SAFETY: `raw` is valid (caller), and the collector does not run before it is rooted.
    Boxroot::try_new(lock, unsafe { Value::from_raw(raw) })
}

/// A root for a new block with this tag and these fields.
///
/// # Safety
///
/// Such a block is a `T`.
#[track_caller]
pub(crate) unsafe fn block<T: ?Sized>(
    lock: &mut DomainLock,
    tag: u8,
    fields: &[&RootRef<OCamlAny>],
) -> Result<Boxroot<T>, Error> {
    // SAFETY: such a block is a `T` (caller).
    let (value, lock) = unsafe { lock.alloc_block(tag, fields) }?;
    Boxroot::try_new(lock, value)
}
