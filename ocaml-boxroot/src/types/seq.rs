//! Reads sequences from Rust. `call/sequence.rs` makes sequences.

use super::form::{is_closure, Form};
use super::markers::Function;
use super::{CallError, FromOCaml};
use crate::raw::ValueExt;
use crate::{Boxroot, ConversionError, DomainLock, OCamlAny, RootRef, Value};
use std::fmt;
use std::marker::PhantomData;

marker! {
    /// The type of OCaml's `T Seq.t`. Covariant.
    ///
    /// Rust's vectors, maps and sets convert to sequences. OCaml's `of_seq` functions turn these
    /// into maps, hash tables, queues and so on. The conversion copies all elements.
    ///
    /// OCaml computes an element each time it is requested, and may raise an exception. Therefore
    /// iterating borrows the token as `&mut`, and yields a `Result` for each element.
    ///
    /// ```no_run
    /// use ocaml_boxroot::markers::OCamlSeq;
    /// use ocaml_boxroot::{Boxroot, CallError, DomainLock, OCamlInt, RootRef};
    ///
    /// fn sum(lock: &mut DomainLock, seq: &RootRef<OCamlSeq<OCamlInt>>) -> Result<i64, CallError> {
    ///     let mut sum = 0;
    ///     for n in seq.iter::<i64>(lock) {
    ///         sum += n?;
    ///     }
    ///     Ok(sum)
    /// }
    /// ```
    OCamlSeq<T>(PhantomData<T>);
}

impl<T> Form for OCamlSeq<T> {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        is_closure(value)
    }
}

impl<T> RootRef<OCamlSeq<T>> {
    /// The first element and the rest of the sequence, or `None` at its end. Runs OCaml code.
    ///
    /// # Errors
    ///
    /// The exception that OCaml raised when it computed the element;
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    #[track_caller]
    #[allow(clippy::type_complexity)]
    pub fn uncons(
        &self,
        lock: &mut DomainLock,
    ) -> Result<Option<(Boxroot<T>, Boxroot<OCamlSeq<T>>)>, CallError> {
        // SAFETY: a sequence is a function that takes `()`. It returns the immediate 0, or a block
        // with the first element and the rest.
        let function: &RootRef<Function<(), OCamlAny>> = unsafe { self.cast() };
        let (node, lock) = function.call(lock)?;
        if node.is_immediate() {
            return Ok(None);
        }
        // SAFETY: the block that this function returns has these two fields.
        let (first, rest) = unsafe { (node.field(0), node.field(1)) };
        Ok(Some((Boxroot::try_new(lock, first)?, Boxroot::try_new(lock, rest)?)))
    }

    /// The elements in order, copied to Rust or rooted. The iterator ends after the last element or
    /// the first error. It borrows the token as `&mut`, because OCaml code computes each element.
    pub fn iter<'l, R: FromOCaml<T>>(&self, lock: &'l mut DomainLock) -> Elements<'l, T, R> {
        Elements { rest: Some(self.clone_in(lock)), lock, _result: PhantomData }
    }
}

/// An iterator over the elements of a sequence; see [`iter`](RootRef::<OCamlSeq<()>>::iter).
pub struct Elements<'l, T, R> {
    /// The elements that are still to come. `None` after the end or an error.
    rest: Option<Result<Boxroot<OCamlSeq<T>>, ConversionError>>,
    lock: &'l mut DomainLock,
    _result: PhantomData<fn() -> R>,
}

impl<T, R: FromOCaml<T>> Iterator for Elements<'_, T, R> {
    type Item = Result<R, CallError>;

    #[track_caller]
    fn next(&mut self) -> Option<Result<R, CallError>> {
        let seq = match self.rest.take()? {
            Ok(seq) => seq,
            Err(error) => return Some(Err(error.into())),
        };
        let (first, seq) = match seq.uncons(self.lock) {
            Ok(node) => node?,
            Err(error) => return Some(Err(error)),
        };
        match first.to_rust(self.lock) {
            Ok(first) => {
                self.rest = Some(Ok(seq));
                Some(Ok(first))
            }
            Err(error) => Some(Err(error.into())),
        }
    }
}

impl<T, R> fmt::Debug for Elements<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Elements")
    }
}
