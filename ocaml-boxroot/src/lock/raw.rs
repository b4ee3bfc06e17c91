//! The unsafe functions of tokens.

use super::{below_handlers, set_up, State, Use, Watched};
use crate::call::enter::{pass, run};
use crate::raw::ValueExt;
use crate::types::block::LAST_CONSTRUCTOR;
use crate::{
    ffi, AttachError, Boxroot, ConversionError, ConversionErrorKind, DomainLock, OCamlAny, RootRef,
    Value,
};
use ocaml_boxroot_sys as sys;

/// The unsafe functions of [`DomainLock`].
pub trait DomainLockExt {
    /// The body of an `extern "C"` function that OCaml calls: calls `f` with a token. The caller
    /// passes the result to `ocaml_boxroot_finish`, a C function of this crate, which raises the
    /// result if it is an exception, and otherwise returns it. If `f` panics, or there can be no
    /// token (see the errors of [`assume_held`](DomainLockExt::assume_held)), the result is the
    /// exception `Failure` with the message. [`export!`](crate::export!) does all of this.
    ///
    /// # Safety
    ///
    /// OCaml called the caller as an `external` without `[@@noalloc]`, and not as a finaliser of a
    /// custom block. The result goes to `ocaml_boxroot_finish`. `f` returns a valid value, or an
    /// exception with the encoding of the `_exn` functions of OCaml's C interface.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use ocaml_boxroot::raw::{self, DomainLockExt, ValueExt};
    /// use ocaml_boxroot::{DomainLock, OCamlInt, Value};
    ///
    /// extern "C" {
    ///     fn ocaml_boxroot_finish(result: raw::Value) -> raw::Value;
    /// }
    ///
    /// /// `external next : int -> int = "example_next"`
    /// #[no_mangle]
    /// unsafe extern "C" fn example_next(n: raw::Value) -> raw::Value {
    ///     // SAFETY: OCaml calls this with an `int`; the result goes to `ocaml_boxroot_finish`.
    ///     unsafe {
    ///         let result = DomainLock::enter(|_lock| {
    ///             let n: Value<OCamlInt> = Value::from_raw(n);
    ///             Value::int(n.to_int() + 1).raw()
    ///         });
    ///         ocaml_boxroot_finish(result)
    ///     }
    /// }
    /// ```
    #[doc(alias("CAMLprim", "CAMLparam"))]
    #[cfg_attr(feature = "debug-checks", track_caller)]
    unsafe fn enter(f: impl FnOnce(&mut DomainLock) -> sys::Value) -> sys::Value;

    /// Calls `f` with a token, in code that holds the lock by other means, such as a library that
    /// tracks the lock in its own way. The lock stays held, even if `f` panics.
    ///
    /// # Errors
    ///
    /// [`TornDown`](crate::AttachError::TornDown), [`Forked`](crate::AttachError::Forked),
    /// [`OutOfMemory`](crate::AttachError::OutOfMemory) and
    /// [`Invalid`](crate::AttachError::Invalid), as for [`attach`](DomainLock::attach).
    ///
    /// # Safety
    ///
    /// This thread holds the lock of its domain, and a collection may run here. Therefore do not
    /// call this
    /// * inside a collection: in a finaliser of a custom block, a root scan, or another hook of the
    ///   collector;
    /// * in the other operations of a custom block (comparison, hash, marshalling);
    /// * below an `external` with `[@@noalloc]`, where OCaml code keeps the heap's state in
    ///   registers;
    /// * in a C signal handler.
    ///
    /// No other token of this thread is used before `f` returns. No [`Value`](crate::Value) or raw
    /// value obtained before this call is used after it, because the collector may have moved it.
    /// Code that does not know its callers, such as a `drop` or a trait method, cannot promise
    /// this.
    #[cfg_attr(feature = "debug-checks", track_caller)]
    unsafe fn assume_held<R>(f: impl FnOnce(&mut DomainLock) -> R) -> Result<R, AttachError>;

    /// Roots the value that OCaml code registered with `Callback.register name`. Returns `None` if
    /// there is none. For functions, use [`ocaml_functions!`](crate::ocaml_functions!). May run the
    /// collector.
    ///
    /// # Safety
    ///
    /// The value is a `T`. If `T` is a [`Function`](crate::Function), the function has these
    /// argument and result types. On OCaml 4, it also does not call `Thread.exit`, which would jump
    /// over Rust frames.
    ///
    /// # Panics
    ///
    /// If memory runs out.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use ocaml_boxroot::raw::DomainLockExt;
    /// use ocaml_boxroot::{Boxroot, DomainLock, Function, OCamlInt, OCamlString};
    ///
    /// /// `let () = Callback.register "length" String.length`
    /// fn length(lock: &mut DomainLock) -> Option<Boxroot<Function<(OCamlString,), OCamlInt>>> {
    ///     // SAFETY: this is the type of the function in OCaml.
    ///     unsafe { lock.named("length") }
    /// }
    /// ```
    #[doc(alias("caml_named_value", "Callback.register"))]
    #[track_caller]
    unsafe fn named<T: ?Sized>(&mut self, name: &str) -> Option<Boxroot<T>>;

    /// Runs `f`, which may allocate in the OCaml heap, and gives its result the lifetime of the
    /// token. Also returns the token as a shared reference, to be used while the result lives.
    ///
    /// # Safety
    ///
    /// `f` returns a valid OCaml value that is a `T`. It does not raise an OCaml exception, does
    /// not release the lock, and does not use another token.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use ocaml_boxroot::raw::{self, DomainLockExt};
    /// use ocaml_boxroot::{DomainLock, OCamlString, Value};
    ///
    /// extern "C" {
    ///     fn caml_alloc_string(length: usize) -> raw::Value;
    /// }
    ///
    /// fn blank(lock: &mut DomainLock) -> (Value<'_, OCamlString>, &DomainLock) {
    ///     // SAFETY: the function returns a string, does not raise for a small one, and does not
    ///     // release the lock.
    ///     unsafe { lock.alloc(|| caml_alloc_string(8)) }
    /// }
    /// ```
    #[doc(alias("caml_alloc", "caml_alloc_small"))]
    unsafe fn alloc<'l, T: ?Sized>(
        &'l mut self,
        f: impl FnOnce() -> sys::Value,
    ) -> (Value<'l, T>, &'l DomainLock);

    /// Allocates a block with these fields. The tag is 0 for a tuple or a record; for a constructor
    /// with arguments it is the constructor's number, counted from 0 among the constructors with
    /// arguments. May run the collector.
    ///
    /// ```
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// use ocaml_boxroot::debug::Kind;
    /// use ocaml_boxroot::raw::DomainLockExt;
    /// use ocaml_boxroot::{Boxroot, OCamlInt, OCamlString, ToOCaml};
    ///
    /// let name: Boxroot<OCamlString> = "Paris".to_ocaml(lock)?;
    /// let height: Boxroot<OCamlInt> = 35.to_ocaml(lock)?;
    /// let fields = [name.as_any(), height.as_any()];
    /// // SAFETY: a pair is a block of tag 0 with these fields.
    /// let (city, _) = unsafe { lock.alloc_block::<(OCamlString, OCamlInt)>(0, &fields) }?;
    /// assert_eq!(city.kind(), Kind::Block { tag: 0, size: 2 });
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::ConversionErrorKind::OutOfRange) if the tag is not that of a
    /// constructor, that is, larger than 243 (on OCaml 4, 245);
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    ///
    /// # Safety
    ///
    /// A block with this tag and these fields is a `T`.
    unsafe fn alloc_block<'l, T: ?Sized>(
        &'l mut self,
        tag: u8,
        fields: &[&RootRef<OCamlAny>],
    ) -> Result<(Value<'l, T>, &'l DomainLock), ConversionError>;
}

impl DomainLockExt for DomainLock {
    #[inline]
    unsafe fn enter(f: impl FnOnce(&mut DomainLock) -> sys::Value) -> sys::Value {
        // SAFETY: as promised by the caller.
        unsafe { run(|lock| Ok(f(lock)), pass) }
    }

    unsafe fn assume_held<R>(f: impl FnOnce(&mut DomainLock) -> R) -> Result<R, AttachError> {
        // SAFETY: the lock is held (caller). On OCaml 4 this cannot be checked before boxroot is
        // set up.
        unsafe { set_up() };
        if sys::status() == sys::Status::ToreDown {
            return Err(AttachError::TornDown); // `token::attach` may not notice
        }
        let used = Use::new()?;
        let _watched = Watched::new(State::Holds);
        // SAFETY: this thread holds the lock until `f` returns, no collection is running, and no
        // other token of this thread is used meanwhile (caller).
        let mut lock = unsafe {
            match DomainLock::new(&used) {
                Err(AttachError::LockNotHeld) => {
                    // OCaml 4: the thread was waiting for the lock when another one set boxroot up.
                    sys::confirm_lock();
                    DomainLock::new(&used)
                }
                lock => lock,
            }
        }?;
        // SAFETY: the lock is held (caller).
        Ok(unsafe { below_handlers(|| f(&mut lock)) })
    }

    unsafe fn named<T: ?Sized>(&mut self, name: &str) -> Option<Boxroot<T>> {
        let (value, lock) = self.named_value(name)?;
        // SAFETY: the value is live, and a `T` (caller).
        Some(Boxroot::new(lock, unsafe { Value::from_raw(value.raw()) }))
    }

    unsafe fn alloc<'l, T: ?Sized>(
        &'l mut self,
        f: impl FnOnce() -> sys::Value,
    ) -> (Value<'l, T>, &'l DomainLock) {
        let raw = f();
        // SAFETY: `raw` is valid now (caller), and the collector does not run in 'l, because the
        // token is only borrowed shared.
        (unsafe { Value::from_raw(raw) }, self)
    }

    unsafe fn alloc_block<'l, T: ?Sized>(
        &'l mut self,
        tag: u8,
        fields: &[&RootRef<OCamlAny>],
    ) -> Result<(Value<'l, T>, &'l DomainLock), ConversionError> {
        if tag > LAST_CONSTRUCTOR {
            return Err(ConversionError::new(ConversionErrorKind::OutOfRange));
        }
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector
        // may run. A `&RootRef` is laid out like a pointer to its cell, which belongs to a live
        // root.
        let raw = unsafe { ffi::obx_alloc_block(tag.into(), fields.len(), fields.as_ptr().cast()) };
        if raw == 0 {
            return Err(ConversionError::new(ConversionErrorKind::OutOfMemory));
        }
        // SAFETY: `raw` is a new block, and a `T` (caller). The collector does not run in 'l,
        // because the token is only borrowed shared.
        Ok((unsafe { Value::from_raw(raw) }, self))
    }
}
