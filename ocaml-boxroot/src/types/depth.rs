//! Limits how deeply conversions nest.

use crate::{ffi, ConversionError, ConversionErrorKind};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

static LIMIT: AtomicUsize = AtomicUsize::new(512);

thread_local! {
    /// The number of levels that this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The stack addresses at which this thread has enough space left: their lower end and their
    /// size. The size is 0 until the stack is measured.
    static ENOUGH: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Whether this thread has enough stack left for another level.
#[cfg_attr(not(debug_assertions), inline(always))]
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

/// Sets the maximum depth of values in conversions, for all threads. Conversions of deeper values
/// return [`TooDeep`](crate::ConversionErrorKind::TooDeep). The default is 512 levels; see
/// [`ToOCaml`](crate::ToOCaml#deep-values).
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{depth, ConversionErrorKind, OCamlInt, ToOCaml};
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// depth::set_limit(1);
/// let nested = Some(Some(Some(7))); // the innermost `Some` contains a number
/// let refused = ToOCaml::<Option<Option<Option<OCamlInt>>>>::to_ocaml(&nested, lock).unwrap_err();
/// assert_eq!(refused.kind(), ConversionErrorKind::TooDeep);
/// # Ok(()) });
/// ```
pub fn set_limit(levels: usize) {
    LIMIT.store(levels, Ordering::Relaxed);
}

/// Counts as a level of nested conversions on this thread until it is dropped. This crate's
/// conversions count their own levels. Begin your own recursive conversion with a `Level`, so that
/// deep data returns an error instead of exhausting the stack.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::depth::Level;
/// use ocaml_boxroot::{ConversionError, DomainLock, OCamlInt, ToOCaml, Value};
///
/// struct Chain(Vec<Chain>);
///
/// impl ToOCaml<OCamlInt> for Chain {
///     fn to_value<'l>(
///         &self,
///         lock: &'l mut DomainLock,
///     ) -> Result<(Value<'l, OCamlInt>, &'l DomainLock), ConversionError> {
///         let _level = Level::new()?;
///         match self.0.first() {
///             Some(next) => next.to_value(lock),
///             None => Ok((Value::int(0), lock)),
///         }
///     }
/// }
/// # ocaml_boxroot::macro_support::example(|lock| {
/// # assert_eq!(Chain(vec![Chain(Vec::new())]).to_ocaml(lock)?.get(lock).to_int(), 0);
/// # Ok(()) });
/// ```
#[derive(Debug)]
#[must_use]
pub struct Level(PhantomData<*mut ()>);

impl Level {
    /// Enters one more level.
    ///
    /// # Errors
    ///
    /// [`TooDeep`](crate::ConversionErrorKind::TooDeep).
    #[inline]
    pub fn new() -> Result<Level, ConversionError> {
        let depth = DEPTH.get();
        if depth >= LIMIT.load(Ordering::Relaxed) || !has_stack() {
            return Err(ConversionError::new(ConversionErrorKind::TooDeep));
        }
        DEPTH.set(depth + 1);
        Ok(Level(PhantomData))
    }
}

/// Enters a level if the conversions of the parts nest.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn level(nest: bool) -> Result<Option<Level>, ConversionError> {
    match nest {
        true => match Level::new() {
            Ok(level) => Ok(Some(level)),
            Err(error) => Err(error),
        },
        false => Ok(None),
    }
}

impl Drop for Level {
    #[inline]
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}
