//! Rust values as OCaml sequences, from which OCaml's functions make maps, sets and hash tables.

use crate::markers::OCamlSeq;
use crate::raw::ValueExt;
use crate::types::Made;
use crate::{
    ffi, Boxroot, ConversionError, DomainLock, Function, OCamlAny, OCamlList, ToOCaml, Value,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// The remaining elements of a sequence.
struct Rest(Boxroot<OCamlList<OCamlAny>>);

// SAFETY: a closure of OCaml gives the elements to OCaml, whose values may be used on any thread.
// No other Rust code gets them.
unsafe impl Send for Rest {}
// SAFETY: as for `Send`.
unsafe impl Sync for Rest {}

impl Rest {
    /// The node of a sequence: the immediate 0, or a block with the first element and the rest.
    fn node(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlAny>, ConversionError> {
        let Some((_, rest)) = self.0.get(lock).first_and_rest() else {
            return Boxroot::try_new(lock, Value::int(0).any());
        };
        let rest = Rest(Boxroot::try_new(lock, rest)?).sequence(lock)?;
        let Some((first, _)) = self.0.get(lock).first_and_rest() else {
            unreachable!("a list does not change")
        };
        let rest = rest.as_any() as *const crate::RootRef<OCamlAny>;
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector
        // may run; it has not run since `first` was read. `rest` is the cell of a live root. A node
        // has the layout of a list cell.
        let node = unsafe { Value::from_raw(ffi::obx_alloc_cons(first.raw(), rest.cast())) };
        Boxroot::try_new(lock, node)
    }

    fn sequence(
        self,
        lock: &mut DomainLock,
    ) -> Result<Boxroot<Function<(), OCamlAny>>, ConversionError> {
        Function::<(), OCamlAny>::from_rust(lock, move |lock| Ok(self.node(lock)?))
    }
}

/// A sequence of the elements of a list. OCaml can read it many times, on any thread.
fn sequence<'l, A>(
    elements: &(impl ToOCaml<OCamlList<A>> + ?Sized),
    lock: &'l mut DomainLock,
) -> Made<'l, OCamlSeq<A>> {
    let (list, now) = elements.to_value(lock)?;
    // SAFETY: every list is also a list of values of unknown type.
    let list = unsafe { Value::from_raw(list.raw()) };
    let sequence = Rest(Boxroot::try_new(now, list)?).sequence(lock)?;
    let raw = sequence.into_value(lock).raw();
    // SAFETY: a function of () that returns nodes is a sequence. The elements come from a list of
    // A.
    Ok((unsafe { Value::from_raw(raw) }, lock))
}

macro_rules! sequences {
    ($($rust:ty [$($generics:tt)*] of $element:ty;)*) => {$(
        /// [`NoClosures`](crate::ConversionErrorKind::NoClosures) if
        /// [`Function::from_rust`](crate::Function#rust-functions) returns it.
        impl<$($generics)*> ToOCaml<OCamlSeq<$element>> for $rust {
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlSeq<$element>> {
                sequence(self, lock)
            }
        }
    )*};
}

sequences! {
    [R] [A, R: ToOCaml<A>] of A;
    [R; N] [A, R: ToOCaml<A>, const N: usize] of A;
    Vec<R> [A, R: ToOCaml<A>] of A;
    VecDeque<R> [A, R: ToOCaml<A>] of A;
    BTreeSet<R> [A, R: ToOCaml<A>] of A;
    HashSet<R> [A, R: ToOCaml<A>] of A;
    BTreeMap<K, V> [A, B, K: ToOCaml<A>, V: ToOCaml<B>] of (A, B);
    HashMap<K, V> [A, B, K: ToOCaml<A>, V: ToOCaml<B>] of (A, B);
}
