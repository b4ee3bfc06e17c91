//! OCaml's maps, sets and sequences, read from Rust.

use crate::types::marker::Uninhabited;
use crate::types::memory::push;
use crate::{
    Boxroot, CallError, DomainLock, Error, FromOCaml, Function, Kind, OCamlAny, RootRef, Value,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;

/// The type of a map of `Stdlib.Map.Make`, from `K` to `V`. Covariant.
///
/// ```no_run
/// use ocaml_boxroot::{ocaml_functions, CallError, DomainLock, OCamlInt, OCamlMap, OCamlString};
/// use std::collections::BTreeMap;
///
/// ocaml_functions! {
///     // SAFETY: this is the type of the function in OCaml.
///     unsafe {
///         /// `module Words = Map.Make (String)`, `Callback.register "index" (fun () -> … : int Words.t)`
///         fn index() -> OCamlMap<OCamlString, OCamlInt> = "index";
///     }
/// }
///
/// fn longest(lock: &mut DomainLock) -> Result<Option<String>, CallError> {
///     let index: BTreeMap<String, usize> = index(lock)?;
///     Ok(index.into_keys().max_by_key(String::len))
/// }
/// ```
pub struct OCamlMap<K, V>(PhantomData<(K, V)>, Uninhabited);

/// The type of a set of `Stdlib.Set.Make`. Covariant.
pub struct OCamlSet<T>(PhantomData<T>, Uninhabited);

/// The type of OCaml's `T Seq.t`. Covariant.
///
/// OCaml computes an element when it is asked for, each time again, and that may raise an exception. So iterating
/// needs the token as `&mut`, and gives results.
///
/// ```no_run
/// use ocaml_boxroot::{Boxroot, CallError, DomainLock, OCamlInt, OCamlSeq, RootRef};
///
/// fn sum(lock: &mut DomainLock, seq: &RootRef<OCamlSeq<OCamlInt>>) -> Result<i64, CallError> {
///     let mut sum = 0;
///     for n in seq.iter::<i64>(lock) {
///         sum += n?;
///     }
///     Ok(sum)
/// }
/// ```
pub struct OCamlSeq<T>(PhantomData<T>, Uninhabited);

macro_rules! debug {
    ($($name:ident<$($parameter:ident),*>),*) => {$(
        impl<$($parameter),*> fmt::Debug for $name<$($parameter),*> {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.1 {}
            }
        }
    )*};
}

debug!(OCamlMap<K, V>, OCamlSet<T>, OCamlSeq<T>);

/// An iterator over the nodes of a tree as `Map` and `Set` of the standard library have it: the immediate 0, or a
/// block whose fields are the left tree, `data` fields, the right tree and a height. Such trees do not change.
struct Tree<'l> {
    /// Nodes that are still to be returned, each before its right tree. The next one is the last.
    pending: Vec<Value<'l, OCamlAny>>,
    data: usize,
}

impl<'l> Tree<'l> {
    /// # Safety
    ///
    /// `root` is such a tree, with `data` fields in each node.
    unsafe fn new<T>(root: Value<'l, T>, data: usize) -> Tree<'l> {
        let mut tree = Tree { pending: Vec::new(), data };
        // SAFETY: every value is an `OCamlAny`; this one is a tree (caller).
        unsafe { tree.descend(Value::from_raw(root.raw())) }
        tree
    }

    /// # Safety
    ///
    /// `tree` is a part of such a tree.
    unsafe fn descend(&mut self, mut tree: Value<'l, OCamlAny>) {
        while let Kind::Block { .. } = tree.kind() {
            self.pending.push(tree);
            // SAFETY: the first field of a node is a tree.
            tree = unsafe { tree.field(0) };
        }
    }
}

/// The nodes, in order.
impl<'l> Iterator for Tree<'l> {
    type Item = Value<'l, OCamlAny>;

    fn next(&mut self) -> Option<Value<'l, OCamlAny>> {
        let node = self.pending.pop()?;
        // SAFETY: a node has its right tree after the left tree and the data.
        unsafe { self.descend(node.field(1 + self.data)) }
        Some(node)
    }
}

impl<'l, K, V> Value<'l, OCamlMap<K, V>> {
    /// The bindings, in the order of the keys. Each value lives as long as the token is borrowed.
    pub fn iter(self) -> impl Iterator<Item = (Value<'l, K>, Value<'l, V>)> {
        // SAFETY: a map is a tree with a key and a value in each node (type).
        let nodes = unsafe { Tree::new(self, 2) };
        // SAFETY: fields 1 and 2 of such a node are the key and the value.
        nodes.map(|node| unsafe { (node.field(1), node.field(2)) })
    }
}

impl<'l, T> Value<'l, OCamlSet<T>> {
    /// The elements, in order.
    pub fn iter(self) -> impl Iterator<Item = Value<'l, T>> {
        // SAFETY: a set is a tree with an element in each node (type).
        let nodes = unsafe { Tree::new(self, 1) };
        // SAFETY: field 1 of such a node is the element.
        nodes.map(|node| unsafe { node.field(1) })
    }
}

macro_rules! maps {
    ($($rust:ty $(where $bounded:ident: $first:ident $(+ $second:ident)?)?;)*) => {$(
        impl<A, B, K: FromOCaml<A>, V: FromOCaml<B>> FromOCaml<OCamlMap<A, B>> for $rust
        $(where $bounded: $first $(+ $second)?)?
        {
            fn convert_from<'l>(
                value: Value<'l, OCamlMap<A, B>>,
                lock: &'l DomainLock,
            ) -> Result<Self, Error> {
                let mut bindings = Vec::new();
                for (key, value) in value.iter() {
                    push(&mut bindings, (K::from_ocaml(key, lock)?, V::from_ocaml(value, lock)?))?;
                }
                Ok(bindings.into_iter().collect())
            }
        }
    )*};
}

maps! {
    Vec<(K, V)>;
    BTreeMap<K, V> where K: Ord;
    HashMap<K, V> where K: Eq + Hash;
}

macro_rules! sets {
    ($($rust:ty $(where $bounded:ident: $first:ident $(+ $second:ident)?)?;)*) => {$(
        impl<A, T: FromOCaml<A>> FromOCaml<OCamlSet<A>> for $rust
        $(where $bounded: $first $(+ $second)?)?
        {
            fn convert_from<'l>(
                value: Value<'l, OCamlSet<A>>,
                lock: &'l DomainLock,
            ) -> Result<Self, Error> {
                let mut elements = Vec::new();
                for element in value.iter() {
                    push(&mut elements, T::from_ocaml(element, lock)?)?;
                }
                Ok(elements.into_iter().collect())
            }
        }
    )*};
}

sets! {
    Vec<T>;
    BTreeSet<T> where T: Ord;
    HashSet<T> where T: Eq + Hash;
}

impl<T> RootRef<OCamlSeq<T>> {
    /// The first element and the rest of the sequence; `None` at its end. Runs OCaml code.
    ///
    /// # Errors
    ///
    /// The exception that OCaml raised when it computed the element; [`Error::OutOfMemory`].
    #[track_caller]
    #[allow(clippy::type_complexity)]
    pub fn uncons(
        &self,
        lock: &mut DomainLock,
    ) -> Result<Option<(Boxroot<T>, Boxroot<OCamlSeq<T>>)>, CallError> {
        // SAFETY: a sequence is a function of () that returns the immediate 0, or a block of the first element
        // and the rest.
        let function: &RootRef<Function<(), OCamlAny>> = unsafe { self.cast() };
        let (node, lock) = function.call(lock)?;
        if node.is_immediate() {
            return Ok(None);
        }
        // SAFETY: the block that such a function returns has these two fields.
        let (first, rest) = unsafe { (node.field(0), node.field(1)) };
        Ok(Some((Boxroot::try_new(lock, first)?, Boxroot::try_new(lock, rest)?)))
    }

    /// The elements, copied to Rust or rooted, in order. The iterator ends after the last element or the first error, and
    /// borrows the token as `&mut`, because each element is computed by OCaml code.
    pub fn iter<'l, R: FromOCaml<T>>(&self, lock: &'l mut DomainLock) -> Elements<'l, T, R> {
        Elements { rest: Some(self.clone_in(lock)), lock, _result: PhantomData }
    }
}

/// An iterator over the elements of a sequence, from [`iter`](RootRef::<OCamlSeq<()>>::iter).
pub struct Elements<'l, T, R> {
    /// The elements that are still to come. `None` after the end or an error.
    rest: Option<Result<Boxroot<OCamlSeq<T>>, Error>>,
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
