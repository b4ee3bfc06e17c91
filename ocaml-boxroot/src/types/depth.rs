//! How deep conversions may nest.

use crate::ffi;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

static LIMIT: AtomicUsize = AtomicUsize::new(512);

thread_local! {
    /// How many levels this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Sets how many levels deep the values that are converted may be nested, on all threads. Conversions of deeper values are
/// [`Error::TooDeep`](crate::Error::TooDeep). The limit is 512 levels at first; see [`ToOCaml`](crate::ToOCaml#deep-values).
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{set_depth_limit, Error, OCamlInt, ToOCaml};
///
/// # let _ocaml = ocaml_boxroot::Runtime::start()?;
/// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
/// set_depth_limit(1);
/// let nested = Some(Some(7));
/// assert_eq!(ToOCaml::<Option<Option<OCamlInt>>>::to_ocaml(&nested, lock).err(), Some(Error::TooDeep));
/// # Ok(()) })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
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
        // SAFETY: the function has no precondition.
        if depth >= LIMIT.load(Ordering::Relaxed) || unsafe { ffi::obx_has_stack() } == 0 {
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
