//! Copies of Rust values in the OCaml heap, kept while others are made.

use super::ToOCaml;
use crate::{Boxroot, ConversionError, DomainLock, OCamlAny, RootRef, Value};
use ocaml_boxroot_sys as sys;

/// The converted form of a Rust value.
pub enum Kept<'a> {
    /// An immediate, which needs no root, only a place.
    Immediate(RootRef<OCamlAny>),
    /// A copy.
    Copy(Boxroot<OCamlAny>),
    /// The value of one of the program's roots.
    Root(&'a RootRef<OCamlAny>),
}

impl<'a> Kept<'a> {
    /// A Rust value that becomes a `T`.
    #[inline]
    #[track_caller]
    pub fn new<T: ?Sized, R: ToOCaml<T>>(
        value: &'a R,
        lock: &mut DomainLock,
    ) -> Result<Kept<'a>, ConversionError> {
        if let Some(root) = value.as_root() {
            let root: *const RootRef<T> = root;
            // SAFETY: the reference is from one to `value`, so it is valid as long. (Its type has a
            // shorter life, because `T` may have one.) Every value is an `OCamlAny`.
            return Ok(Kept::Root(unsafe { &*root.cast::<RootRef<OCamlAny>>() }));
        }
        match value.to_value(lock) {
            Ok((value, lock)) => Kept::copy(value.any(), lock),
            Err(error) => Err(error),
        }
    }

    /// A value that was made. This is not generic, because there are many calls.
    #[inline]
    #[track_caller]
    fn copy(
        value: Value<'_, OCamlAny>,
        lock: &DomainLock,
    ) -> Result<Kept<'static>, ConversionError> {
        match RootRef::immediate(value) {
            Some(place) => Ok(Kept::Immediate(place)),
            None => match Boxroot::try_new(lock, value) {
                Ok(root) => Ok(Kept::Copy(root)),
                Err(error) => Err(error),
            },
        }
    }

    /// This integer.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn int(n: isize) -> Kept<'static> {
        Kept::Immediate(RootRef::<OCamlAny>::of_int(n))
    }

    /// Takes the kept value out, and leaves an immediate.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn replace(&mut self) -> Kept<'a> {
        std::mem::replace(self, Kept::int(0))
    }

    /// Where the value is.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn place(&self) -> &RootRef<OCamlAny> {
        match self {
            Kept::Immediate(place) => place,
            Kept::Copy(root) => root,
            Kept::Root(root) => root,
        }
    }

    /// The value, which is not kept any more. It is valid as long as the collector does not run.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take(self, lock: &DomainLock) -> sys::Value {
        let raw = self.place().get(lock).raw();
        self.end(lock);
        raw
    }

    /// Ends a copy's root, with a token.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn end(self, lock: &DomainLock) {
        /// Not inlined, because there are many calls.
        #[inline(never)]
        fn delete(root: Boxroot<OCamlAny>, lock: &DomainLock) {
            root.delete_in(lock);
        }
        if let Kept::Copy(root) = self {
            delete(root, lock);
        }
    }
}

/// The converted forms of `N` Rust values, one after another: the parts of a value, or the
/// arguments of a call.
pub struct Copies<'a, const N: usize> {
    /// Of these, there are so many.
    count: usize,
    kept: [Kept<'a>; N],
    /// Their names in errors.
    names: &'static [&'static str; N],
}

impl<'a, const N: usize> Copies<'a, N> {
    /// There are none yet.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new(names: &'static [&'static str; N]) -> Self {
        Copies { count: 0, kept: [const { Kept::int(0) }; N], names }
    }

    /// Adds the converted form of a Rust value, which is a `T`.
    ///
    /// # Panics
    ///
    /// If there are `N` already.
    #[inline]
    #[track_caller]
    pub fn add<T: ?Sized, R: ToOCaml<T>>(
        &mut self,
        value: &'a R,
        lock: &mut DomainLock,
    ) -> Result<(), ConversionError> {
        match Kept::new(value, lock) {
            Ok(kept) => {
                self.push(kept);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn push(&mut self, kept: Kept<'a>) {
        // The old value needs no drop.
        std::mem::forget(std::mem::replace(&mut self.kept[self.count], kept));
        self.count += 1;
    }

    /// As [`add`](Copies::add), of the value with this number.
    ///
    /// # Panics
    ///
    /// If it is not the next one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub(crate) fn add_next<T: ?Sized, R: ToOCaml<T>>(
        &mut self,
        number: usize,
        value: &'a R,
        lock: &mut DomainLock,
    ) -> Result<(), ConversionError> {
        assert!(self.count == number);
        self.add(value, lock)
    }

    /// The name of the next one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn next_name(&self) -> &'static str {
        self.names[self.count]
    }

    /// All of them.
    ///
    /// # Panics
    ///
    /// If there are not `N`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub(crate) fn all(self) -> [Kept<'a>; N] {
        assert!(self.count == N);
        self.kept
    }
}
