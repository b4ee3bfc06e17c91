use super::memory::{collect, copied};
use super::{FromOCaml, ToOCaml};
use crate::{Boxroot, DomainLock, Error, OCamlBytes, OCamlString, Value};

macro_rules! strings {
    ($($rust:ty $(, $n:ident)?;)*) => {$(
        impl$(<const $n: usize>)? ToOCaml<OCamlString> for $rust {
            fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlString>, Error> {
                let (value, lock) = lock.alloc_string(self)?;
                Boxroot::try_new(lock, value)
            }

            without_parts!(&self);
        }
    )*};
}

macro_rules! bytes {
    ($($rust:ty $(, $n:ident)?;)*) => {$(
        impl$(<const $n: usize>)? ToOCaml<OCamlBytes> for $rust {
            fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlBytes>, Error> {
                let (value, lock) = lock.alloc_string(self)?;
                // SAFETY: bytes are laid out like a string, and nothing else refers to this new string, so it
                // may change.
                Boxroot::try_new(lock, unsafe { Value::from_raw(value.raw()) })
            }

            without_parts!(&self);
        }
    )*};
}

strings! {
    str;
    String;
    [u8];
    [u8; N], N;
    Vec<u8>;
}

bytes! {
    [u8];
    [u8; N], N;
    Vec<u8>;
}

/// [`NotUtf8`](Error::NotUtf8) for a string that is not UTF-8. `Vec<u8>` is for any string, and
/// [`Value::to_string_lossy`] replaces what is not UTF-8.
impl FromOCaml<OCamlString> for String {
    fn convert_from<'l>(value: Value<'l, OCamlString>, _: &'l DomainLock) -> Result<Self, Error> {
        String::from_utf8(copied(value.as_bytes())?).map_err(|_| Error::NotUtf8)
    }

    without_parts!();
}

impl FromOCaml<OCamlString> for Vec<u8> {
    fn convert_from<'l>(value: Value<'l, OCamlString>, _: &'l DomainLock) -> Result<Self, Error> {
        copied(value.as_bytes())
    }

    without_parts!();
}

impl FromOCaml<OCamlBytes> for Vec<u8> {
    fn convert_from<'l>(value: Value<'l, OCamlBytes>, _: &'l DomainLock) -> Result<Self, Error> {
        collect(value.bytes())
    }

    without_parts!();
}
