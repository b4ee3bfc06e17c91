//! Keeps OCaml copies of Rust values alive while further copies are made.

use super::ToOCaml;
use crate::{Boxroot, ConversionError, DomainLock, OCamlAny, RootRef, Value};
use ocaml_boxroot_sys as sys;
use std::mem::ManuallyDrop;

/// An OCaml value, converted from a Rust value and kept alive.
pub enum Kept<'a> {
    /// An immediate, which needs no root, only a place in memory.
    Immediate(RootRef<OCamlAny>),
    /// A copy, which this root keeps alive.
    Copy(Boxroot<OCamlAny>),
    /// The value of one of the program's roots.
    Root(&'a RootRef<OCamlAny>),
}

impl<'a> Kept<'a> {
    /// Converts a Rust value to a `T`.
    #[inline]
    #[track_caller]
    pub(crate) fn new<T: ?Sized, R: ToOCaml<T>>(
        value: &'a R,
        lock: &mut DomainLock,
    ) -> Result<Kept<'a>, ConversionError> {
        let mut kept = Kept::int(0);
        match kept.set(value, lock) {
            Ok(()) => Ok(kept),
            Err(error) => Err(error),
        }
    }

    /// Keeps this integer.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn int(n: isize) -> Kept<'static> {
        Kept::Immediate(RootRef::<OCamlAny>::of_int(n))
    }

    /// Converts a Rust value to a `T`, and keeps it in this place, which has an immediate.
    #[inline]
    #[track_caller]
    pub(crate) fn set<T: ?Sized, R: ToOCaml<T>>(
        &mut self,
        value: &'a R,
        lock: &mut DomainLock,
    ) -> Result<(), ConversionError> {
        if let Some(root) = value.as_root() {
            let root: *const RootRef<T> = root;
            // SAFETY: the reference was made from a reference to `value`, so it is valid for `'a`.
            // (The compiler shortens its lifetime to that of `T`.) Every value is an `OCamlAny`.
            unsafe { self.set_root(root.cast()) };
            return Ok(());
        }
        match value.to_value(lock) {
            Ok((value, lock)) => self.set_copy(value.any(), lock),
            Err(error) => Err(error),
        }
    }

    /// Refers to one of the program's roots in this place, which has an immediate.
    ///
    /// # Safety
    ///
    /// The root is valid for `'a`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn set_root(&mut self, root: *const RootRef<OCamlAny>) {
        // SAFETY: the root is valid for `'a` (caller).
        self.put(Kept::Root(unsafe { &*root }));
    }

    /// Keeps a new value alive in this place, which has an immediate.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn set_copy(
        &mut self,
        value: Value<'_, OCamlAny>,
        lock: &DomainLock,
    ) -> Result<(), ConversionError> {
        /// Not inlined, because there are many callers.
        #[inline(never)]
        #[track_caller]
        fn root(
            value: Value<'_, OCamlAny>,
            lock: &DomainLock,
        ) -> Result<Boxroot<OCamlAny>, ConversionError> {
            Boxroot::try_new(lock, value)
        }
        match RootRef::immediate(value) {
            Some(place) => self.put(Kept::Immediate(place)),
            None => match root(value, lock) {
                Ok(root) => self.put(Kept::Copy(root)),
                Err(error) => return Err(error),
            },
        }
        Ok(())
    }

    /// Replaces an immediate, which needs no drop.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put(&mut self, kept: Kept<'a>) {
        std::mem::forget(std::mem::replace(self, kept));
    }

    /// Places for values.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn places<const N: usize>() -> [Kept<'static>; N] {
        [const { Kept::int(0) }; N]
    }

    /// Takes the value out, and leaves an immediate in its place.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn replace(&mut self) -> Kept<'a> {
        std::mem::replace(self, Kept::int(0))
    }

    /// The place that holds the value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn place(&self) -> &RootRef<OCamlAny> {
        match self {
            Kept::Immediate(place) => place,
            Kept::Copy(root) => root,
            Kept::Root(root) => root,
        }
    }

    /// Returns the value, and stops keeping it alive. It is valid until the collector runs.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take(self, lock: &DomainLock) -> sys::Value {
        /// Not inlined, because there are many callers.
        #[inline(never)]
        fn delete(root: Boxroot<OCamlAny>, lock: &DomainLock) {
            root.delete_in(lock);
        }
        match self {
            Kept::Immediate(place) => place.get(lock).raw(),
            Kept::Copy(root) => {
                let raw = root.get(lock).raw();
                delete(root, lock);
                raw
            }
            Kept::Root(root) => root.get(lock).raw(),
        }
    }

    /// Writes the values to memory, and stops keeping them alive. They are valid until the
    /// collector runs.
    ///
    /// # Safety
    ///
    /// `values` has room for `N` values.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn take_all<const N: usize>(
        kept: [Kept<'a>; N],
        values: *mut sys::Value,
        lock: &DomainLock,
    ) {
        // The compiler would have to drop the rest if a delete panicked.
        let kept = ManuallyDrop::new(kept);
        let mut i = 0;
        while i < N {
            // SAFETY: each is taken once. There is room (caller).
            unsafe { values.add(i).write(std::ptr::read(&kept[i]).take(lock)) };
            i += 1;
        }
    }
}
