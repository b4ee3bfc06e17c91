//! Reads lazy values that OCaml has forced.

use super::form::{FORCING_TAG, FORWARD_TAG, LAZY_TAG};
use crate::raw::ValueExt;
use crate::{Kind, Value};
use std::marker::PhantomData;
use std::sync::atomic::{fence, Ordering};

marker! {
    /// The type of OCaml's `T Lazy.t`. Covariant.
    ///
    /// Rust can read the result of a lazy value that OCaml has forced. Forcing runs OCaml code:
    /// call `Lazy.force` through [bindings](crate::include_bindings!) (`bind("stdlib__Lazy")`). It
    /// is unsafe, because two threads that force one value trigger a bug in OCaml's runtime.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use ocaml_boxroot::markers::OCamlLazy;
    /// use ocaml_boxroot::{ocaml_functions, CallError, DomainLock, OCamlString, RootRef};
    ///
    /// ocaml_functions! {
    ///     // SAFETY: this is the type of the function in OCaml, and only one thread calls it.
    ///     unsafe {
    ///         /// `Callback.register "force" (fun (text : string Lazy.t) -> …)`
    ///         fn force(text: OCamlLazy<OCamlString>) = "force";
    ///     }
    /// }
    ///
    /// fn read(
    ///     lock: &mut DomainLock,
    ///     text: &RootRef<OCamlLazy<OCamlString>>,
    /// ) -> Result<String, CallError> {
    ///     if text.get(lock).forced().is_none() {
    ///         force(lock, text)?;
    ///     }
    ///     let text = text.get(lock).forced().expect("it was forced just now");
    ///     Ok(text.to_rust(lock)?)
    /// }
    /// ```
    OCamlLazy<T>(PhantomData<T>);
}

impl<'l, T> Value<'l, OCamlLazy<T>> {
    /// The result, if OCaml has computed it. Runs no OCaml code.
    #[doc(alias("Lazy.is_val", "Forward_val"))]
    pub fn forced(self) -> Option<Value<'l, T>> {
        match self.kind() {
            Kind::Block { tag, .. } if tag == LAZY_TAG || tag == FORCING_TAG => None,
            Kind::Block { tag: FORWARD_TAG, .. } => {
                // Another domain may have stored the result and then this tag.
                fence(Ordering::Acquire);
                // SAFETY: the field of a lazy value with this tag is the result (by its type).
                Some(unsafe { self.field(0) })
            }
            // SAFETY: if the value has none of these tags, it is the result of the lazy value (by
            // its type).
            _ => Some(unsafe { Value::from_raw(self.raw()) }),
        }
    }
}
