//! The measures with this project's crate, on bindings of `border.ml`.

#[path = "../common.rs"]
mod common;

use border::{Item, OCamlItem, Shape};
use common::{floats, ints, mebibyte, tagged, word, MANY, MEBIBYTE, MMMM, REFUSED, TEXT};
use ocaml_boxroot::{
    Boxroot, CallError, DomainLock, FromOCaml, OCamlArray, OCamlBytes, OCamlFloat, OCamlInt,
    OCamlList, OCamlString, RootRef, Runtime, ToOCaml,
};
use std::error::Error;
use std::fmt::Debug;
use std::process::ExitCode;

ocaml_boxroot::include_bindings!(border: Host);
common::samples!();

type Answer<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    Runtime::start().expect("OCaml starts");
    common::main(common::measures!(enter:
        call_int call_string closure_call list_to list_from floats_to floats_from record_to
        record_from records_1000_to records_1000_from variant_to variant_from string_1M_to
        string_1M_from bytes_1M_to bytes_1M_from export_int export_string export_record
        export_error export_panic exception root; attach))
}

fn enter(measure: impl FnOnce(&mut DomainLock) -> Answer<()>) {
    DomainLock::attach(measure).expect("the lock").expect("no error");
}

fn attach(n: usize) {
    for _ in 0..n {
        assert_eq!(DomainLock::attach(|_| 1), Ok(1));
    }
}

fn root(lock: &mut DomainLock, n: usize) -> Answer<()> {
    let kept = border::item_root(lock, 1)?;
    for _ in 0..n {
        let root = Boxroot::new(lock, kept.get(lock));
        assert_eq!(root.get(lock).raw(), kept.get(lock).raw());
        root.delete_in(lock);
    }
    Ok(())
}

// ---- calls ----

fn call_int(lock: &mut DomainLock, n: usize) -> Answer<()> {
    for i in 0..n as isize {
        assert_eq!(border::call_int(lock, i)?, i + 1);
    }
    Ok(())
}

fn call_string(lock: &mut DomainLock, n: usize) -> Answer<()> {
    for _ in 0..n {
        assert_eq!(border::call_string(lock, TEXT)?, TEXT);
    }
    Ok(())
}

fn closure_call(lock: &mut DomainLock, n: usize) -> Answer<()> {
    let closure = border::closure(lock)?;
    for i in 0..n as isize {
        assert_eq!(closure.call_converting::<isize>(lock, i)?, i + 1);
    }
    Ok(())
}

fn exception(lock: &mut DomainLock, n: usize) -> Answer<()> {
    for _ in 0..n {
        match border::refuse(lock) {
            Err(CallError::Exception(exception)) => assert!(exception.is(lock, "Failure")),
            other => panic!("{other:?}"),
        }
    }
    Ok(())
}

// ---- conversions ----

/// Converts to OCaml, and looks at the first word.
fn to<T, R>(lock: &mut DomainLock, n: usize, value: R, right: impl Fn(isize) -> bool) -> Answer<()>
where
    R: ToOCaml<T> + FromOCaml<T> + PartialEq + Debug,
{
    assert_eq!(value.to_ocaml(lock)?.to_rust::<R>(lock)?, value);
    for _ in 0..n {
        let root = value.to_ocaml(lock)?;
        // SAFETY: the measures that call this have values that are blocks.
        assert!(right(unsafe { word(root.get(lock).raw()) }));
        root.delete_in(lock);
    }
    Ok(())
}

/// Converts from OCaml, and looks at a part.
fn from<T, R>(
    lock: &mut DomainLock,
    n: usize,
    root: Boxroot<T>,
    expected: R,
    right: impl Fn(&R) -> bool,
) -> Answer<()>
where
    R: FromOCaml<T> + PartialEq + Debug,
{
    assert_eq!(root.to_rust::<R>(lock)?, expected);
    for _ in 0..n {
        assert!(right(&root.to_rust(lock)?));
    }
    Ok(())
}

fn list_to(lock: &mut DomainLock, n: usize) -> Answer<()> {
    to::<OCamlList<OCamlInt>, _>(lock, n, ints(), |head| head == tagged(0))
}

fn list_from(lock: &mut DomainLock, n: usize) -> Answer<()> {
    let list = border::list_root(lock)?;
    from(lock, n, list, ints(), |ints| ints.len() == MANY)
}

fn floats_to(lock: &mut DomainLock, n: usize) -> Answer<()> {
    to::<OCamlArray<OCamlFloat>, _>(lock, n, floats(), |first| first == 0)
}

fn floats_from(lock: &mut DomainLock, n: usize) -> Answer<()> {
    let array = border::floats_root(lock)?;
    from(lock, n, array, floats(), |floats| floats.len() == MANY)
}

fn record_to(lock: &mut DomainLock, n: usize) -> Answer<()> {
    to(lock, n, item(1), |id| id == tagged(1))
}

fn record_from(lock: &mut DomainLock, n: usize) -> Answer<()> {
    let record = border::item_root(lock, 1)?;
    from(lock, n, record, item(1), |item| item.id == 1)
}

fn records_1000_to(lock: &mut DomainLock, n: usize) -> Answer<()> {
    to::<OCamlList<OCamlItem>, _>(lock, n, items(), |head| head != tagged(0))
}

fn records_1000_from(lock: &mut DomainLock, n: usize) -> Answer<()> {
    let list = border::items_root(lock)?;
    from(lock, n, list, items(), |items| items.len() == MANY)
}

fn variant_to(lock: &mut DomainLock, n: usize) -> Answer<()> {
    let shapes = shapes();
    for (i, shape) in shapes.iter().cycle().take(n).enumerate() {
        let root = shape.to_ocaml(lock)?;
        assert_eq!(root.get(lock).raw() == tagged(0), i % 4 == 0);
        root.delete_in(lock);
    }
    Ok(())
}

fn variant_from(lock: &mut DomainLock, n: usize) -> Answer<()> {
    let shapes = shapes();
    let roots = [0, 1, 2, 3].map(|i| border::shape_root(lock, i).expect("no exception"));
    for (shape, root) in shapes.iter().zip(&roots).cycle().take(n) {
        assert_eq!(root.to_rust::<Shape>(lock)?, *shape);
    }
    Ok(())
}

fn string_1M_to(lock: &mut DomainLock, n: usize) -> Answer<()> {
    to::<OCamlString, _>(lock, n, mebibyte(), |bytes| bytes == MMMM)
}

fn string_1M_from(lock: &mut DomainLock, n: usize) -> Answer<()> {
    let string = border::mebibyte_root(lock)?;
    from(lock, n, string, mebibyte(), |text| text.len() == MEBIBYTE)
}

fn bytes_1M_to(lock: &mut DomainLock, n: usize) -> Answer<()> {
    to::<OCamlBytes, _>(lock, n, mebibyte().into_bytes(), |bytes| bytes == MMMM)
}

fn bytes_1M_from(lock: &mut DomainLock, n: usize) -> Answer<()> {
    let bytes = border::mebibyte_of_bytes_root(lock)?;
    from(lock, n, bytes, mebibyte().into_bytes(), |bytes| bytes.len() == MEBIBYTE)
}

// ---- what OCaml calls ----

/// What `border.ml` declares as `external`.
struct Host;

impl border::Externals for Host {
    fn export_int(lock: &mut DomainLock, number: &RootRef<OCamlInt>) -> Answer<isize> {
        Ok(number.get(lock).to_int() + 1)
    }

    fn export_string(lock: &mut DomainLock, text: &RootRef<OCamlString>) -> Answer<String> {
        Ok(text.get(lock).as_str()?.to_owned())
    }

    fn export_record(lock: &mut DomainLock, item: &RootRef<OCamlItem>) -> Answer<Item> {
        let item: Item = item.to_rust(lock)?;
        Ok(Item { id: item.id + 1, ..item })
    }

    fn export_error(_: &mut DomainLock, _: &RootRef<OCamlInt>) -> Answer<isize> {
        Err(REFUSED.into())
    }

    fn export_panic(_: &mut DomainLock, _: &RootRef<OCamlInt>) -> Answer<isize> {
        Ok(common::refuse() as isize)
    }
}

/// Loops of OCaml.
macro_rules! loops {
    ($($name:ident)*) => {
        $(fn $name(lock: &mut DomainLock, n: usize) -> Answer<()> {
            Ok(border::$name(lock, n)?)
        })*
    };
}
loops!(export_int export_string export_record export_error export_panic);
