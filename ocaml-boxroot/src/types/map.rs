//! Reads maps and sets of OCaml's standard library, and converts association lists.

use super::depth::Level;
use super::form::Form;
use super::markers::OCamlList;
use super::memory::{collect, push};
use super::{FromOCaml, Invariant, Made, ToOCaml};
use crate::raw::ValueExt;
use crate::{ConversionError, ConversionErrorKind, DomainLock, Kind, OCamlAny, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::marker::PhantomData;

marker! {
    /// The type of OCaml's maps from `K` to `V` (`Stdlib.Map.Make`). Covariant.
    ///
    /// Only OCaml can make a map, because only OCaml can compare the keys.
    /// [Bindings](crate::include_bindings!) of a module that contains `module Words = Map.Make
    /// (String)` have the function `words::of_seq(lock, &map)`, which takes a Rust map.
    ///
    /// ```no_run
    /// use ocaml_boxroot::markers::OCamlMap;
    /// use ocaml_boxroot::{ocaml_functions, CallError, DomainLock, OCamlInt, OCamlString};
    /// use std::collections::BTreeMap;
    ///
    /// ocaml_functions! {
    ///     // SAFETY: this is the type of the function in OCaml.
    ///     unsafe {
    ///         /// `module Words = Map.Make (String)`,
    ///         /// `Callback.register "index" (fun () -> … : int Words.t)`
    ///         fn index() -> OCamlMap<OCamlString, OCamlInt> = "index";
    ///     }
    /// }
    ///
    /// fn longest(lock: &mut DomainLock) -> Result<Option<String>, CallError> {
    ///     let index: BTreeMap<String, usize> = index(lock)?;
    ///     Ok(index.into_keys().max_by_key(String::len))
    /// }
    /// ```
    OCamlMap<K, V>(PhantomData<(K, V)>);

    /// The type of OCaml's sets (`Stdlib.Set.Make`). Covariant. Only OCaml can make a set.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use ocaml_boxroot::markers::OCamlSet;
    /// use ocaml_boxroot::{DomainLock, ConversionError, OCamlInt, RootRef};
    /// use std::collections::BTreeSet;
    ///
    /// /// `module Numbers = Set.Make (Int)`; the set is a `Numbers.t`.
    /// fn numbers(
    ///     lock: &DomainLock,
    ///     set: &RootRef<OCamlSet<OCamlInt>>,
    /// ) -> Result<BTreeSet<i64>, ConversionError> {
    ///     set.to_rust(lock)
    /// }
    /// ```
    OCamlSet<T>(PhantomData<T>);

    /// The type of OCaml's `(K, V) Hashtbl.t`. Invariant, because hash tables are mutable.
    ///
    /// Only OCaml's functions can find an element in a table. [Bindings](crate::include_bindings!)
    /// provide these functions (`bind("stdlib__Hashtbl")`): `hashtbl::of_seq(lock, &map)` makes a
    /// table from a Rust map, and [`iter`](crate::RootRef::<OCamlSeq<()>>::iter) reads the sequence
    /// that `hashtbl::to_seq` returns.
    OCamlHashtbl<K, V>(PhantomData<(K, V)>, Invariant<(K, V)>);
}

/// An iterator over the nodes of a tree of OCaml's `Map` or `Set`. A tree is the immediate 0, or a
/// block whose fields are the left tree, `data` fields, the right tree and a height. It is
/// immutable.
struct Tree<'l> {
    /// A stack of nodes. The last one is returned next, and then the nodes of its right tree.
    pending: Vec<Value<'l, OCamlAny>>,
    data: usize,
}

impl<'l> Tree<'l> {
    /// # Safety
    ///
    /// `root` is a tree of this form, with `data` fields in each node.
    unsafe fn new<T>(root: Value<'l, T>, data: usize) -> Tree<'l> {
        let mut tree = Tree { pending: Vec::new(), data };
        // SAFETY: every value is an `OCamlAny`; this one is a tree (caller).
        unsafe { tree.descend(Value::from_raw(root.raw())) }
        tree
    }

    /// # Safety
    ///
    /// `tree` is a part of a tree of this form.
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
        // SAFETY: in a node, the right tree follows the left tree and the data.
        unsafe { self.descend(node.field(1 + self.data)) }
        Some(node)
    }
}

impl<K, V> Form for OCamlMap<K, V> {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        matches!(value.kind(), Kind::Immediate(0) | Kind::Block { tag: 0, size: 5 })
    }
}

impl<T> Form for OCamlSet<T> {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        matches!(value.kind(), Kind::Immediate(0) | Kind::Block { tag: 0, size: 4 })
    }
}

impl<K, V> Form for OCamlHashtbl<K, V> {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        matches!(value.kind(), Kind::Block { tag: 0, size: 4 })
    }
}

impl<'l, K, V> Value<'l, OCamlMap<K, V>> {
    /// The bindings, in the order of the keys. Each value lives as long as the token is borrowed.
    #[track_caller]
    pub fn iter(self) -> impl Iterator<Item = (Value<'l, K>, Value<'l, V>)> {
        // SAFETY: a map is a tree with a key and a value in each node (by its type).
        let nodes = unsafe { Tree::new(self.checked(), 2) };
        // SAFETY: fields 1 and 2 of a node are the key and the value.
        nodes.map(|node| unsafe { (node.field(1), node.field(2)) })
    }
}

impl<'l, T> Value<'l, OCamlSet<T>> {
    /// The elements, in order.
    #[track_caller]
    pub fn iter(self) -> impl Iterator<Item = Value<'l, T>> {
        // SAFETY: a set is a tree with an element in each node (by its type).
        let nodes = unsafe { Tree::new(self.checked(), 1) };
        // SAFETY: field 1 of a node is the element.
        nodes.map(|node| unsafe { node.field(1) })
    }
}

/// Makes the collections below from their elements.
mod made {
    use super::*;

    pub fn vector<T>(all: Vec<T>) -> Result<Vec<T>, ConversionError> {
        Ok(all)
    }

    /// Inserts the bindings one by one, because `collect` would need memory to sort them all.
    pub fn tree_map<K: Ord, V>(
        bindings: impl IntoIterator<Item = (K, V)>,
    ) -> Result<BTreeMap<K, V>, ConversionError> {
        let mut map = BTreeMap::new();
        map.extend(bindings);
        Ok(map)
    }

    /// Like [`tree_map`].
    pub fn tree_set<T: Ord>(elements: Vec<T>) -> Result<BTreeSet<T>, ConversionError> {
        let mut set = BTreeSet::new();
        set.extend(elements);
        Ok(set)
    }

    pub fn hash_map<K: Eq + Hash, V>(
        bindings: impl IntoIterator<Item = (K, V), IntoIter: ExactSizeIterator>,
    ) -> Result<HashMap<K, V>, ConversionError> {
        let (bindings, mut map) = (bindings.into_iter(), HashMap::new());
        map.try_reserve(bindings.len())
            .map_err(|_| ConversionError::new(ConversionErrorKind::OutOfMemory))?;
        map.extend(bindings);
        Ok(map)
    }

    pub fn hash_set<T: Eq + Hash>(elements: Vec<T>) -> Result<HashSet<T>, ConversionError> {
        let mut set = HashSet::new();
        set.try_reserve(elements.len())
            .map_err(|_| ConversionError::new(ConversionErrorKind::OutOfMemory))?;
        set.extend(elements);
        Ok(set)
    }
}

macro_rules! trees {
    ($marker:ty, $part:pat => $copy:expr, $lock:ident; $($rust:ty: $make:ident [$($parameters:tt)*];)*) => {$(
        impl<$($parameters)*> FromOCaml<$marker> for $rust {
            fn from_ocaml<'l>(
                value: Value<'l, $marker>,
                $lock: &'l DomainLock,
            ) -> Result<Self, ConversionError> {
                let _level = Level::new()?;
                let mut parts = Vec::new();
                for $part in value.iter() {
                    push(&mut parts, $copy)?;
                }
                made::$make(parts)
            }

            with_form!($marker);
        }
    )*};
}

trees! {
    OCamlMap<A, B>, (key, value) => (key.to_rust(lock)?, value.to_rust(lock)?), lock;
    Vec<(K, V)>: vector [A, B, K: FromOCaml<A>, V: FromOCaml<B>];
    BTreeMap<K, V>: tree_map [A, B, K: FromOCaml<A> + Ord, V: FromOCaml<B>];
    HashMap<K, V>: hash_map [A, B, K: FromOCaml<A> + Eq + Hash, V: FromOCaml<B>];
}

trees! {
    OCamlSet<A>, element => element.to_rust(lock)?, lock;
    Vec<T>: vector [A, T: FromOCaml<A>];
    BTreeSet<T>: tree_set [A, T: FromOCaml<A> + Ord];
    HashSet<T>: hash_set [A, T: FromOCaml<A> + Eq + Hash];
}

macro_rules! lists {
    ($($set:ident, $rust:ident: $make:ident where $first:ident $(+ $second:ident)?;)*) => {$(
        /// Converts to a list, in the order of the set's iterator.
        impl<A, R: ToOCaml<A>> ToOCaml<OCamlList<A>> for $set<R> {
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlList<A>> {
                collect(self.iter())?.as_slice().to_value(lock)
            }
        }

        /// Converts to a list of pairs, in the order of the map's iterator.
        impl<A, B, K: ToOCaml<A>, V: ToOCaml<B>> ToOCaml<OCamlList<(A, B)>> for $rust<K, V> {
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlList<(A, B)>> {
                collect(self.iter())?.as_slice().to_value(lock)
            }
        }

        /// If a key occurs several times, its first value counts, as in OCaml's `List.assoc`.
        impl<A, B, K: FromOCaml<A> + $first $(+ $second)?, V: FromOCaml<B>> FromOCaml<OCamlList<(A, B)>>
            for $rust<K, V>
        {
            fn from_ocaml<'l>(
                value: Value<'l, OCamlList<(A, B)>>,
                lock: &'l DomainLock,
            ) -> Result<Self, ConversionError> {
                let pairs: Vec<(K, V)> = FromOCaml::from_ocaml(value, lock)?;
                made::$make(pairs.into_iter().rev())
            }

            with_form!(OCamlList<(A, B)>);
        }
    )*};
}

lists! {
    BTreeSet, BTreeMap: tree_map where Ord;
    HashSet, HashMap: hash_map where Eq + Hash;
}
