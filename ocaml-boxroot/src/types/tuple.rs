//! Tuples, options and results.

use super::{FromOCaml, ToOCaml};
use crate::types::block::{block, rooted};
use crate::{Boxroot, DomainLock, Error, Value};

macro_rules! tuple {
    ($($rust:ident $ocaml:ident $index:tt),+) => {
        impl<$($ocaml, $rust: ToOCaml<$ocaml>),+> ToOCaml<($($ocaml,)+)> for ($($rust,)+) {
            fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<($($ocaml,)+)>, Error> {
                let fields = ($(self.$index.to_ocaml(lock)?,)+);
                // SAFETY: a tuple is a block of tag 0 with these fields.
                unsafe { block(lock, 0, &[$(fields.$index.as_any()),+]) }
            }
        }

        impl<$($ocaml, $rust: FromOCaml<$ocaml>),+> FromOCaml<($($ocaml,)+)> for ($($rust,)+) {
            fn convert_from<'l>(
                value: Value<'l, ($($ocaml,)+)>,
                lock: &'l DomainLock,
            ) -> Result<Self, Error> {
                // SAFETY: a tuple is a block of these fields (type).
                unsafe { Ok(($($rust::from_ocaml(value.field::<$ocaml>($index), lock)?,)+)) }
            }
        }
    };
}

tuple!(P A 0, Q B 1);
tuple!(P A 0, Q B 1, R C 2);
tuple!(P A 0, Q B 1, R C 2, S D 3);
tuple!(P A 0, Q B 1, R C 2, S D 3, T E 4);
tuple!(P A 0, Q B 1, R C 2, S D 3, T E 4, U F 5);
tuple!(P A 0, Q B 1, R C 2, S D 3, T E 4, U F 5, V G 6);
tuple!(P A 0, Q B 1, R C 2, S D 3, T E 4, U F 5, V G 6, W H 7);

impl<A, R: ToOCaml<A>> ToOCaml<Option<A>> for Option<R> {
    fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<Option<A>>, Error> {
        match self {
            // SAFETY: `None` is the immediate 0.
            None => unsafe { rooted(Value::int(0).raw(), lock) },
            Some(x) => {
                let x = x.to_ocaml(lock)?;
                // SAFETY: `Some x` is a block of tag 0 with this field.
                unsafe { block(lock, 0, &[x.as_any()]) }
            }
        }
    }
}

impl<A, R: FromOCaml<A>> FromOCaml<Option<A>> for Option<R> {
    fn convert_from<'l>(value: Value<'l, Option<A>>, lock: &'l DomainLock) -> Result<Self, Error> {
        match value.to_option() {
            None => Ok(None),
            Some(x) => Ok(Some(R::from_ocaml(x, lock)?)),
        }
    }
}

impl<A, B, P: ToOCaml<A>, Q: ToOCaml<B>> ToOCaml<Result<A, B>> for Result<P, Q> {
    fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<Result<A, B>>, Error> {
        match self {
            Ok(x) => {
                let x = x.to_ocaml(lock)?;
                // SAFETY: `Ok x` is a block of tag 0 with this field.
                unsafe { block(lock, 0, &[x.as_any()]) }
            }
            Err(x) => {
                let x = x.to_ocaml(lock)?;
                // SAFETY: `Error x` is a block of tag 1 with this field.
                unsafe { block(lock, 1, &[x.as_any()]) }
            }
        }
    }
}

impl<A, B, P: FromOCaml<A>, Q: FromOCaml<B>> FromOCaml<Result<A, B>> for Result<P, Q> {
    fn convert_from<'l>(
        value: Value<'l, Result<A, B>>,
        lock: &'l DomainLock,
    ) -> Result<Self, Error> {
        match value.to_result() {
            Ok(x) => Ok(Ok(P::from_ocaml(x, lock)?)),
            Err(x) => Ok(Err(Q::from_ocaml(x, lock)?)),
        }
    }
}
