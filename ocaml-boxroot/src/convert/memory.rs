//! Vectors for copies of OCaml's data, which may be larger than the memory that is left.

use crate::Error;
use std::alloc::{alloc, Layout};

/// A vector with room for `length` elements, in as few instructions as [`Vec::with_capacity`]; `try_reserve` takes more.
#[inline]
pub(crate) fn with_capacity<T>(length: usize) -> Result<Vec<T>, Error> {
    let layout = Layout::array::<T>(length).map_err(|_| Error::OutOfMemory)?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the size is not 0.
    let memory = unsafe { alloc(layout) };
    if memory.is_null() {
        return Err(Error::OutOfMemory);
    }
    // SAFETY: the memory is from the global allocator, with the layout of a vector with this capacity.
    Ok(unsafe { Vec::from_raw_parts(memory.cast(), 0, length) })
}

/// A vector of these elements.
pub(crate) fn collect<T>(from: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, Error> {
    let mut elements = with_capacity(from.len())?;
    elements.extend(from);
    Ok(elements)
}

/// A copy of the bytes.
#[inline]
pub(crate) fn copied(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut copy = with_capacity(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// Adds an element.
#[inline(always)]
pub(crate) fn push<T>(elements: &mut Vec<T>, element: T) -> Result<(), Error> {
    if elements.len() == elements.capacity() {
        elements.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
    }
    elements.push(element);
    Ok(())
}
