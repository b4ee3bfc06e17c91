#[cfg(ocaml4)]
use crate::ffi;
use crate::DomainLock;
use ocaml_boxroot_sys as sys;
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

/// Whether this build validates values against their types (feature `debug-checks`, or debug
/// builds).
pub(crate) const CHECKS: bool = cfg!(any(feature = "debug-checks", debug_assertions));

/// An OCaml value that is not rooted. It is valid until the garbage collector may run, that is,
/// until the token under which it was obtained is used as `&mut`. To keep the value longer, make a
/// [`Boxroot`](crate::Boxroot).
///
/// `T` is a marker for the OCaml type, for example [`OCamlInt`](crate::OCamlInt). Rust never
/// creates a value of type `T`.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{OCamlInt, Value};
///
/// let seven: Value<OCamlInt> = Value::int(7);
/// assert_eq!(seven.to_int(), 7);
/// ```
#[doc(alias("value", "OCamlRef"))]
pub struct Value<'l, T: ?Sized> {
    raw: sys::Value,
    /// Ends the value's life when the shared borrow of the token ends, and makes the type neither
    /// `Send` nor `Sync`.
    _life: PhantomData<(&'l DomainLock, *const T)>,
}

impl<T: ?Sized> Clone for Value<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Value<'_, T> {}

impl<T: ?Sized> fmt::Debug for Value<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({:#x})", self.raw)
    }
}

impl<'l, T: ?Sized> Value<'l, T> {
    /// The value for the raw interface. It must not be used after `'l`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn raw(self) -> sys::Value {
        self.raw
    }

    /// Inspects the value's memory at run time, independently of its type.
    #[inline]
    pub fn kind(self) -> Kind {
        if self.is_immediate() {
            return Kind::Immediate(self.raw >> 1);
        }
        #[cfg(ocaml4)]
        {
            let mut size = 0;
            // SAFETY: the value is not an immediate, and live in 'l.
            let tag = unsafe { ffi::obx_kind(self.raw, &mut size) };
            Kind::Block { tag: tag as u8, size }
        }
        #[cfg(not(ocaml4))]
        {
            // SAFETY: the value is not an immediate, and so it is a block, which is live in 'l.
            // OCaml 5 has no other values.
            let header = unsafe { self.header() };
            Kind::Block { tag: header as u8, size: size_in(header) }
        }
    }

    /// The tag and the number of words of a block, in the form of [`block_head`]; 0 for an
    /// immediate.
    ///
    /// # Safety
    ///
    /// The value is an immediate, or a block of the OCaml heap or of the program's static data.
    /// This holds for all types, except that values of abstract types may be pointers to other
    /// memory on OCaml 4.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn head(self) -> usize {
        match self.is_immediate() {
            true => 0,
            // SAFETY: the value is a block (caller).
            false => (unsafe { self.header() }) & HEAD,
        }
    }

    /// The number of words of a block.
    ///
    /// # Safety
    ///
    /// The value is a block.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn size_of_block(self) -> usize {
        // SAFETY: the value is a block (caller).
        size_in(unsafe { self.header() })
    }

    /// The tag of a block.
    ///
    /// # Safety
    ///
    /// The value is a block.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn tag_of_block(self) -> u8 {
        // SAFETY: the value is a block (caller).
        unsafe { self.header() as u8 }
    }

    /// # Safety
    ///
    /// The value is a block.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn header(self) -> usize {
        let header = (self.raw as *mut usize).wrapping_sub(1);
        // SAFETY: a block has a header before its first word, and is live in 'l. The load is
        // atomic, because OCaml may be marking the block on another thread.
        unsafe { AtomicUsize::from_ptr(header) }.load(Ordering::Relaxed)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_immediate(self) -> bool {
        self.raw & 1 == 1
    }
}

/// The unsafe functions of [`Value`].
pub trait ValueExt<'l>: Sized {
    /// A value from the raw interface.
    ///
    /// # Safety
    ///
    /// `raw` is a valid OCaml value (an immediate, or a pointer to a block with a header) and a
    /// `T`. It stays valid for `'l`, because a token of this thread is borrowed shared for `'l`, or
    /// because `raw` is an immediate.
    unsafe fn from_raw(raw: sys::Value) -> Self;

    /// A field of a block. For crates that define their own markers for OCaml types.
    ///
    /// # Safety
    ///
    /// The value is a block with more than `index` fields, and this one is a `U`.
    ///
    /// # Panics
    ///
    /// In [builds with checks](crate#builds-with-checks), if the value is not a block with such a
    /// field.
    #[doc(alias("Field", "caml_field"))]
    #[track_caller]
    unsafe fn field<U: ?Sized>(self, index: usize) -> Value<'l, U>;
}

impl<'l, T: ?Sized> ValueExt<'l> for Value<'l, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn from_raw(raw: sys::Value) -> Self {
        Value { raw, _life: PhantomData }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn field<U: ?Sized>(self, index: usize) -> Value<'l, U> {
        if CHECKS {
            has_field(self.kind(), index);
        }
        let field = (self.raw as *mut sys::Value).wrapping_add(index);
        // SAFETY: the block is live and does not move in 'l, and has the field (caller). The load
        // is atomic, because another domain may be changing the field, and this acquires that
        // domain's earlier writes.
        let raw = unsafe { AtomicIsize::from_ptr(field) }.load(Ordering::Acquire);
        // SAFETY: `raw` was read from a live block, so it is live in 'l, and it is a `U` (caller).
        unsafe { Value::from_raw(raw) }
    }
}

/// The number of words of a block with this header. The lowest ten bits are the tag and the colour.
/// OCaml's configuration may reserve the highest bits. The bits between are the size.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn size_in(header: usize) -> usize {
    (header << sys::layout::RESERVED_BITS) >> (sys::layout::RESERVED_BITS + 10)
}

/// The bits of a header that hold the size and the tag.
const HEAD: usize = (usize::MAX >> sys::layout::RESERVED_BITS) & !0x300;

/// A header, without the colour, of a block with this tag and this number of words.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) const fn block_head(tag: u8, size: usize) -> usize {
    size << 10 | tag as usize
}

/// Panics if a value of this kind is not a block with that field.
#[track_caller]
fn has_field(kind: Kind, index: usize) {
    const NO_FIELDS: u8 = 251; // blocks with this tag or a higher one have no fields
    match kind {
        Kind::Block { tag: ..NO_FIELDS, size } if index < size => {}
        kind => panic!("boxroot: there is no field {index} in {kind:?}"),
    }
}

/// The result of [`Value::kind`].
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::debug::Kind;
/// use ocaml_boxroot::{OCamlInt, ToOCaml, Value};
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let pair = ToOCaml::<(OCamlInt, OCamlInt)>::to_ocaml(&(1, 2), lock)?;
/// assert_eq!(pair.get(lock).kind(), Kind::Block { tag: 0, size: 2 });
/// assert_eq!(Value::int(7).kind(), Kind::Immediate(7));
/// # Ok(()) });
/// ```
#[doc(alias("Is_block", "Is_long", "Tag_val", "Wosize_val"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer, a character, a boolean, a constant constructor (by number), or `()`.
    Immediate(isize),
    /// A block of the heap. On OCaml 4, values of abstract types may also be pointers to memory
    /// outside the heap. These count as blocks of tag 251 and size 0.
    Block {
        /// Up to 243 (on OCaml 4, 245), the constructor's number, which is 0 for tuples and
        /// records. Otherwise the kind of block, as in OCaml's module `Obj`: 252 is a string, 253 a
        /// float, 254 an array or record of floats in the flat form, 255 a custom block.
        tag: u8,
        /// The size in words, without the header.
        size: usize,
    },
}

/// Any OCaml type: the marker for a value of unknown type. Its roots are neither `Send` nor `Sync`,
/// because the value's actual type may not allow other threads to use it.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::debug::Kind;
/// use ocaml_boxroot::{Boxroot, OCamlAny, RootRef, Value};
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let root = Boxroot::new(lock, Value::int(7));
/// let any: &RootRef<OCamlAny> = root.as_any();
/// assert_eq!(any.get(lock).kind(), Kind::Immediate(7));
/// # Ok(()) });
/// ```
#[doc(alias("Obj.t", "Obj.magic"))]
pub struct OCamlAny(PhantomData<*const ()>, Infallible);

impl fmt::Debug for OCamlAny {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {}
    }
}
