//! References, which are records with one mutable field.

use super::block::block;
use super::kept::Kept;
use super::ToOCaml;
use crate::{ffi, Boxroot, ConversionError, DomainLock, RootRef};

crate::ocaml_type! {
    /// The type of OCaml's `T ref`. Invariant, because references are mutable.
    ///
    /// OCaml and Rust share a reference through a root. There is no conversion, because a copy
    /// would not show later changes. Its field is read like those of [records](crate::ocaml_type!).
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::markers::OCamlRef;
    /// use ocaml_boxroot::{Boxroot, OCamlInt};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let count: Boxroot<OCamlRef<OCamlInt>> = OCamlRef::new(lock, 1)?;
    /// let n: i64 = count.read(lock, OCamlRef::contents)?;
    /// count.assign(lock, n + 1)?;
    /// assert_eq!(count.get(lock).at(OCamlRef::contents).to_int(), 2);
    /// # Ok(()) });
    /// ```
    ///
    /// ```compile_fail
    /// # use ocaml_boxroot::markers::OCamlRef;
    /// use ocaml_boxroot::Boxroot;
    /// # struct Name<'a>(&'a ());
    /// fn shorten<'a>(name: Boxroot<OCamlRef<Name<'static>>>) -> Boxroot<OCamlRef<Name<'a>>> {
    ///     name
    /// }
    /// ```
    #[doc(alias("caml_modify", "Store_field"))]
    pub struct OCamlRef<T> {
        /// The result of OCaml's `!`. Another domain may change it at any time.
        contents: T,
    }
}

impl<T> OCamlRef<T> {
    /// Makes a reference, as OCaml's `ref value` does. The collector may run.
    ///
    /// # Errors
    ///
    /// The errors of the conversion, and [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    #[track_caller]
    pub fn new(
        lock: &mut DomainLock,
        value: impl ToOCaml<T>,
    ) -> Result<Boxroot<OCamlRef<T>>, ConversionError> {
        let contents = Kept::new(&value, lock)?;
        // SAFETY: a reference is a block of tag 0 with its contents.
        let (reference, lock) = unsafe { block(lock, 0, [contents]) }?;
        Boxroot::try_new(lock, reference)
    }
}

impl<T> RootRef<OCamlRef<T>> {
    /// Changes the contents of the reference, as OCaml's `:=` does. The collector may run.
    ///
    /// # Errors
    ///
    /// The errors of the conversion. If an error is returned, the reference is unchanged.
    #[doc(alias("caml_modify", "Store_field"))]
    #[track_caller]
    pub fn assign(
        &self,
        lock: &mut DomainLock,
        value: impl ToOCaml<T>,
    ) -> Result<(), ConversionError> {
        let (value, lock) = value.to_value(lock)?;
        let reference = self.get(lock).checked();
        // SAFETY: the lock is held. A reference is a block whose field 0 is of this type. In OCaml,
        // all code that has a reference may change it. Both values are live, because the token is
        // borrowed.
        unsafe { ffi::obx_store(reference.raw(), 0, value.raw()) };
        Ok(())
    }
}
