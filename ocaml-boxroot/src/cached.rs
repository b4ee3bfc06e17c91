//! Roots of constants: `cached_root!`.

use crate::{Boxroot, DomainLock, RootRef};
use std::sync::OnceLock;

/// A root that is created once.
pub struct Cached<T: ?Sized + 'static>(OnceLock<Boxroot<T>>);

impl<T: ?Sized + 'static> Cached<T> {
    /// Without a root.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Cached(OnceLock::new())
    }

    /// Returns the root, and creates it with `make` if there is none. Threads do not wait for each
    /// other, because `make` may run OCaml code. If several threads create a root at once, the
    /// first one stays.
    #[inline]
    pub fn get<E>(
        &'static self,
        lock: &mut DomainLock,
        make: impl FnOnce(&mut DomainLock) -> Result<Boxroot<T>, E>,
    ) -> Result<&'static RootRef<T>, E> {
        match self.0.get() {
            Some(root) => Ok(root),
            None => {
                let root = make(lock)?;
                Ok(self.0.get_or_init(|| root))
            }
        }
    }
}

/// Returns a root of a constant as a `Result<&'static RootRef<T>, _>`. The first evaluation of this
/// expression creates the root, which is never dropped. Later evaluations cost one load.
///
/// * `cached_root!(lock, text)`: an OCaml string with this text. The error is a
///   [`ConversionError`](crate::ConversionError).
/// * `cached_root!(lock, T, |lock| …)`: the root that the closure returns, as a `Result` of a
///   `Boxroot<T>` and any error. After an error, the next call tries again.
///
/// Several threads may run the closure at the same time, because it may release the lock. All of
/// them get the same root, and the other roots are dropped. `T` must be [`Send`] and [`Sync`].
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{cached_root, ConversionError, DomainLock, OCamlInt, OCamlList, ToOCaml};
///
/// fn days(lock: &mut DomainLock) -> Result<usize, ConversionError> {
///     let days = cached_root!(lock, OCamlList<OCamlInt>, |lock| [31, 28, 31].to_ocaml(lock))?;
///     let unit = cached_root!(lock, "days")?;
///     assert_eq!(unit.get(lock).to_string_lossy(), "days");
///     Ok(days.to_rust::<Vec<usize>>(lock)?.iter().sum())
/// }
/// # ocaml_boxroot::macro_support::example(|lock| {
/// assert_eq!(days(lock)?, 90);
/// assert_eq!(days(lock)?, 90);
/// # Ok(()) });
/// ```
#[doc(alias("intern", "OnceLock", "caml_register_generational_global_root"))]
#[macro_export]
macro_rules! cached_root {
    ($lock:expr, $marker:ty, $make:expr $(,)?) => {
        $crate::macro_support::Cached::get(
            {
                // Expressions of the user cannot see this name.
                static VALUE: $crate::macro_support::Cached<$marker> =
                    $crate::macro_support::Cached::new();
                &VALUE
            },
            $lock,
            $make,
        )
    };
    ($lock:expr, $text:expr $(,)?) => {
        $crate::cached_root!(
            $lock,
            $crate::markers::OCamlString,
            |lock: &mut $crate::DomainLock| {
                $crate::ToOCaml::<$crate::markers::OCamlString>::to_ocaml(&$text, lock)
            }
        )
    };
}
