//! `Root`: roots of values of all shapes, as one type; and `Entry`, a root with the id of its value.

use crate::shapes::{self, function, Shape};
use ocaml_boxroot::{sys, Boxroot, DomainLock, OCamlInt, RootRef, Value};

/// The type of shelves: arrays in walk.ml whose elements may have any types.
pub enum Shelf {}

/// The interface by which a root is created, changed or deleted. All have the same effect.
#[derive(Clone, Copy)]
pub enum How {
    Plain,
    Try,
    Clone,
    Raw,
}

pub const HOWS: [How; 4] = [How::Plain, How::Try, How::Clone, How::Raw];

/// Another root for the value that `root` owns.
fn again<T: 'static>(root: &RootRef<T>, lock: &DomainLock, how: How) -> Boxroot<T> {
    match how {
        How::Plain => Boxroot::new(lock, root.get(lock)),
        How::Try => Boxroot::try_new(lock, root.get(lock)).expect("enough memory"),
        How::Clone => root.clone_in(lock).expect("enough memory"),
        How::Raw => {
            let value = root.get(lock).raw();
            // SAFETY: the value is live, and the lock is held; the new root is used only here.
            unsafe {
                let raw = sys::boxroot_create(value).expect("enough memory");
                assert_eq!(sys::boxroot_get(raw), value);
                Boxroot::from_raw(raw)
            }
        }
    }
}

/// Makes `root` own the value that `other` owns, and returns it.
fn set<T: 'static>(
    mut root: Boxroot<T>,
    other: &RootRef<T>,
    lock: &DomainLock,
    how: How,
) -> Boxroot<T> {
    match how {
        How::Plain => root.set(lock, other.get(lock)),
        How::Try => root.try_set(lock, other.get(lock)).expect("enough memory"),
        How::Clone => root = other.clone_in(lock).expect("enough memory"),
        How::Raw => {
            let mut raw = root.into_raw();
            // SAFETY: the root is live, and `into_raw` has just given it up; the value is live, and the lock is held.
            unsafe {
                assert!(sys::boxroot_modify(&mut raw, other.get(lock).raw()));
                root = Boxroot::from_raw(raw);
            }
        }
    }
    root
}

fn delete<T: ?Sized>(root: Boxroot<T>, lock: &DomainLock, how: How) {
    match how {
        How::Plain | How::Clone => root.delete_in(lock),
        How::Try => drop(root),
        // SAFETY: the root is live, and `into_raw` has just given it up.
        How::Raw => unsafe { sys::boxroot_delete(root.into_raw()) },
    }
}

/// A root for the result of OCaml's identity function on the value.
fn through_ocaml<T: 'static>(root: &RootRef<T>, lock: &mut DomainLock) -> Boxroot<T> {
    let same = function::<(T,), T>(lock, "walk.same");
    let (value, lock) = same.call(lock, root).expect("no exception");
    Boxroot::new(lock, value)
}

fn put<T: 'static>(root: &RootRef<T>, lock: &mut DomainLock, shelf: &RootRef<Shelf>, place: usize) {
    let put = function::<(Shelf, OCamlInt, T), ()>(lock, "walk.put");
    let place = Boxroot::new(lock, Value::int(place as isize));
    put.call(lock, shelf, &place, root).expect("no exception");
}

fn take<T: 'static>(
    lock: &mut DomainLock,
    shelf: &RootRef<Shelf>,
    place: usize,
    keep: bool,
) -> Boxroot<T> {
    let name = if keep { "walk.peek" } else { "walk.take" };
    let take = function::<(Shelf, OCamlInt), T>(lock, name);
    let place = Boxroot::new(lock, Value::int(place as isize));
    let (value, lock) = take.call(lock, shelf, &place).expect("no exception");
    Boxroot::new(lock, value)
}

/// Declares `Root`, with a variant for each shape, and its operations. The number behind a shape says how many of 256 ids
/// have it.
macro_rules! roots {
    ($($shape:ident: $share:literal),+) => {
        /// A root of one shape.
        pub enum Root {
            $($shape(Boxroot<<shapes::$shape as Shape>::Type>)),+
        }

        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($shape),+
        }

        pub const KINDS: &[Kind] = &[$(Kind::$shape),+];
        const SHARES: &[u8] = &[$($share),+];

        impl Root {
            pub fn make(id: u64, lock: &mut DomainLock) -> Root {
                match kind(id) {
                    $(Kind::$shape => Root::$shape(shapes::$shape::make(id, lock))),+
                }
            }

            pub fn is(&self, id: u64, lock: &mut DomainLock) -> bool {
                match self {
                    $(Root::$shape(root) => shapes::$shape::is(root, id, lock)),+
                }
            }

            pub fn again(&self, lock: &DomainLock, how: How) -> Root {
                match self {
                    $(Root::$shape(root) => Root::$shape(again(root, lock, how))),+
                }
            }

            /// Makes the root own the value of another root, which is of the same kind.
            pub fn set(self, other: &Root, lock: &DomainLock, how: How) -> Root {
                match (self, other) {
                    $((Root::$shape(root), Root::$shape(other)) => {
                        Root::$shape(set(root, other, lock, how))
                    })+
                    _ => panic!("roots of two kinds"),
                }
            }

            pub fn delete(self, lock: &DomainLock, how: How) {
                match self {
                    $(Root::$shape(root) => delete(root, lock, how)),+
                }
            }

            pub fn through_ocaml(&self, lock: &mut DomainLock) -> Root {
                match self {
                    $(Root::$shape(root) => Root::$shape(through_ocaml(root, lock))),+
                }
            }

            pub fn put(&self, lock: &mut DomainLock, shelf: &RootRef<Shelf>, place: usize) {
                match self {
                    $(Root::$shape(root) => put(root, lock, shelf, place)),+
                }
            }

            /// A root for the value at a place of a shelf, which has this id. The value is removed there unless `keep`.
            pub fn take(
                id: u64,
                lock: &mut DomainLock,
                shelf: &RootRef<Shelf>,
                place: usize,
                keep: bool,
            ) -> Root {
                match kind(id) {
                    $(Kind::$shape => Root::$shape(take(lock, shelf, place, keep))),+
                }
            }
        }
    };
}

roots! {
    Number: 40, Truth: 2, Float: 24, Text: 50, Bytes: 12, Boxed: 10, Outcome: 8, Mixed: 6, Maybe: 16,
    Pair: 16, Numbers: 12, Words: 12, Floats: 10, Table: 6, Large: 1, LongText: 1, Adder: 8, Raised: 3,
    Held: 8, Own: 11
}

pub fn kind(id: u64) -> Kind {
    let mut rest = (id >> 8) as u8;
    for (&kind, &share) in KINDS.iter().zip(SHARES) {
        if rest < share {
            return kind;
        }
        rest -= share;
    }
    Kind::Number
}

/// A root, and the id of the value that it owns.
pub struct Entry {
    pub root: Root,
    pub id: u64,
}

impl Entry {
    pub fn new(id: u64, lock: &mut DomainLock) -> Entry {
        Entry { root: Root::make(id, lock), id }
    }

    pub fn check(&self, lock: &mut DomainLock) {
        assert!(
            self.root.is(self.id, lock),
            "a root lost a {:?} of id {:x}",
            kind(self.id),
            self.id
        );
    }
}
