//! Lazy values, as far as they are forced.

use super::form::{FORCING_TAG, FORWARD_TAG, LAZY_TAG};
use crate::raw::ValueExt;
use crate::{Kind, Value};
use std::marker::PhantomData;
use std::sync::atomic::{fence, Ordering};

marker! {
    /// The type of OCaml's `T Lazy.t`. Covariant.
    ///
    /// Rust reads the result of a lazy value that OCaml has forced. To force one runs OCaml code,
    /// and is `Lazy.force` of [bindings](crate::include_bindings!) (`bind("stdlib__Lazy")`). That
    /// function is unsafe: a race of two threads that force one value is a bug of OCaml's runtime.
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
                // Another domain may have stored the result, and then this tag.
                fence(Ordering::Acquire);
                // SAFETY: a block with this tag is a lazy value whose field is the result (type).
                Some(unsafe { self.field(0) })
            }
            // SAFETY: a lazy value without these tags is its result, in whose place OCaml or the
            // collector has put it (type).
            _ => Some(unsafe { Value::from_raw(self.raw()) }),
        }
    }
}
