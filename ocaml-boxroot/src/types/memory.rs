//! Vectors for copies of OCaml's data. Running out of memory is an error, not an abort.

use crate::{ConversionError, ConversionErrorKind};
use std::alloc::{alloc, Layout};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Allocates a vector with room for `length` elements. This takes as few instructions as
/// [`Vec::with_capacity`], while `try_reserve` takes more.
#[inline]
pub(crate) fn with_capacity<T>(length: usize) -> Result<Vec<T>, ConversionError> {
    let layout = Layout::array::<T>(length)
        .map_err(|_| ConversionError::new(ConversionErrorKind::OutOfMemory))?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the size is not 0.
    let memory = unsafe { alloc(layout) };
    if memory.is_null() {
        return Err(ConversionError::new(ConversionErrorKind::OutOfMemory));
    }
    // SAFETY: the memory comes from the global allocator, with the layout of a vector of this
    // capacity.
    Ok(unsafe { Vec::from_raw_parts(memory.cast(), 0, length) })
}

/// Collects these elements into a vector.
pub(crate) fn collect<T>(
    from: impl ExactSizeIterator<Item = T>,
) -> Result<Vec<T>, ConversionError> {
    let mut elements = with_capacity(from.len())?;
    elements.extend(from);
    Ok(elements)
}

/// Converts these elements, and collects the results into a vector.
#[inline]
pub(crate) fn converted<S, T>(
    from: impl ExactSizeIterator<Item = S>,
    mut convert: impl FnMut(S) -> Result<T, ConversionError>,
) -> Result<Vec<T>, ConversionError> {
    let length = from.len();
    let mut elements = with_capacity(length)?;
    let first: *mut T = elements.as_mut_ptr();
    for (i, element) in from.take(length).enumerate() {
        // SAFETY: the vector has room for `length` elements, and has `i` elements so far.
        unsafe {
            first.add(i).write(convert(element)?);
            elements.set_len(i + 1);
        }
    }
    Ok(elements)
}

/// Copies the bytes.
#[inline]
pub(crate) fn copied(bytes: &[u8]) -> Result<Vec<u8>, ConversionError> {
    let mut copy = with_capacity(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// Copies the first `length` bytes of words that other threads may be changing.
#[inline]
pub(crate) fn copied_atomically(
    words: &[AtomicUsize],
    length: usize,
) -> Result<Vec<u8>, ConversionError> {
    let mut bytes = match words.len() {
        #[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
        // SAFETY: bytes may have any bits.
        256.. => unsafe { copied_by_one_instruction(words)? },
        _ => {
            let words = words.iter().map(|word| word.load(Ordering::Relaxed).to_ne_bytes());
            collect(words)?.into_flattened()
        }
    };
    bytes.truncate(length);
    Ok(bytes)
}

/// A number that other threads may be changing, given its bits.
#[inline]
pub(crate) fn number(bits: &AtomicU64) -> f64 {
    f64::from_bits(bits.load(Ordering::Relaxed))
}

/// Copies numbers that other threads may be changing, given their bits.
#[inline]
pub(crate) fn copied_numbers(numbers: &[AtomicU64]) -> Result<Vec<f64>, ConversionError> {
    match numbers.len() {
        #[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
        // SAFETY: numbers may have any bits.
        256.. => unsafe { copied_by_one_instruction(numbers) },
        _ => collect(numbers.iter().map(number)),
    }
}

/// Copies 64-bit words: as fast as `memcpy` if there are many, and faster than one load per word.
///
/// # Safety
///
/// A `W` is an atomic of 64 bits. A `T` may have any bits, and its size divides that of a `W`.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
unsafe fn copied_by_one_instruction<W, T>(words: &[W]) -> Result<Vec<T>, ConversionError> {
    let length = size_of_val(words) / size_of::<T>();
    let mut copy = with_capacity(length)?;
    // SAFETY: the instruction copies `words.len()` words. It loads aligned words atomically, as
    // `mov` does for atomics. The vector has room for them, and then holds `length` elements, which
    // may have any bits (caller).
    unsafe {
        std::arch::asm!(
            "rep movsq",
            inout("rcx") words.len() => _,
            inout("rsi") words.as_ptr() => _,
            inout("rdi") copy.as_mut_ptr() => _,
            options(nostack, preserves_flags),
        );
        copy.set_len(length);
    }
    Ok(copy)
}

/// Adds an element. Returns an error if out of memory.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn push<T>(elements: &mut Vec<T>, element: T) -> Result<(), ConversionError> {
    if elements.len() == elements.capacity() && elements.try_reserve(1).is_err() {
        return Err(ConversionError::new(ConversionErrorKind::OutOfMemory));
    }
    elements.push(element);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    // These tests need no OCaml, so Miri can run them:
    // `cargo +nightly miri test -p ocaml-boxroot --lib memory`.

    #[test]
    fn vectors_are_those_of_the_standard_library() {
        let mut texts = with_capacity(1).unwrap();
        for text in ["one", "two", "three"] {
            push(&mut texts, text.to_string()).unwrap();
        }
        assert_eq!(texts, ["one", "two", "three"]);
        assert_eq!(collect([(), ()].into_iter()).unwrap().len(), 2);
        assert_eq!(copied(b"").unwrap(), b"");
        assert_eq!(copied(b"bytes").unwrap().into_boxed_slice(), (*b"bytes").into());
        assert_eq!(
            with_capacity::<u64>(usize::MAX).err(),
            Some(ConversionError::new(ConversionErrorKind::OutOfMemory))
        );
        // Miri would abort here. `black_box` prevents the removal of the unused allocation.
        if cfg!(not(miri)) {
            let most = with_capacity::<u64>(isize::MAX as usize / 8);
            assert_eq!(
                black_box(most).err(),
                Some(ConversionError::new(ConversionErrorKind::OutOfMemory))
            );
        }
    }

    #[test]
    fn numbers_are_copied() {
        for length in [0, 1, 255, 256, 1000] {
            let numbers: Vec<f64> = (0..length).map(f64::from).collect();
            let bits: Vec<_> = numbers.iter().map(|n| AtomicU64::new(n.to_bits())).collect();
            assert_eq!(copied_numbers(&bits).unwrap(), numbers);
        }
    }

    #[test]
    fn bytes_are_copied_in_words() {
        // One instruction copies 256 words or more.
        for length in (0..40).chain(2030..2070) {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let words: Vec<AtomicUsize> = bytes
                .chunks(size_of::<usize>())
                .map(|chunk| {
                    let mut word = [0xff; size_of::<usize>()];
                    word[..chunk.len()].copy_from_slice(chunk);
                    AtomicUsize::new(usize::from_ne_bytes(word))
                })
                .chain([AtomicUsize::new(usize::MAX)])
                .collect();
            assert_eq!(copied_atomically(&words, length).unwrap(), bytes);
        }
    }
}
