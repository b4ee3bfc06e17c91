//! How deep conversions may nest.

use crate::ffi;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

static LIMIT: AtomicUsize = AtomicUsize::new(512);

thread_local! {
    /// How many levels this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The part of this thread's stack where enough of it is left: its lower end and its size, which is 0 until the stack has been
    /// looked for.
    static ENOUGH: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Whether this thread has enough of its stack left for another level.
#[inline(always)]
fn has_stack() -> bool {
    let here = 0u8;
    let (end, size) = ENOUGH.get();
    (&raw const here).addr().wrapping_sub(end) < size || look_at_stack()
}

#[cold]
fn look_at_stack() -> bool {
    let (mut end, mut size) = (0, 0);
    // SAFETY: the function has no precondition; it sets both numbers.
    let enough = unsafe { ffi::obx_has_stack(&mut end, &mut size) } != 0;
    ENOUGH.set((end, size));
    enough
}

/// Sets how many levels deep the values that are converted may be nested, on all threads. Conversions of deeper values are
/// [`TooDeep`](crate::ConversionErrorKind::TooDeep). The limit is 512 levels at first; see [`ToOCaml`](crate::ToOCaml#deep-values).
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{set_depth_limit, ConversionErrorKind, OCamlInt, ToOCaml};
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// set_depth_limit(1);
/// let nested = Some(Some(7));
/// let refused = ToOCaml::<Option<Option<OCamlInt>>>::to_ocaml(&nested, lock).unwrap_err();
/// assert_eq!(refused.kind(), ConversionErrorKind::TooDeep);
/// # Ok(()) });
/// ```
pub fn set_depth_limit(levels: usize) {
    LIMIT.store(levels, Ordering::Relaxed);
}

/// A level of nested conversions on this thread, until it is dropped.
pub(super) struct Level(PhantomData<*mut ()>);

impl Level {
    /// One more level. `None` if that is too deep.
    #[inline]
    pub(super) fn new() -> Option<Level> {
        let depth = DEPTH.get();
        if depth >= LIMIT.load(Ordering::Relaxed) || !has_stack() {
            return None;
        }
        DEPTH.set(depth + 1);
        Some(Level(PhantomData))
    }
}

impl Drop for Level {
    #[inline]
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}
