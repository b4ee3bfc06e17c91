//! The measures with this project's crate, with bindings to `border.ml`.

#[path = "../common.rs"]
mod common;

use border::{Item, OCamlItem, Shape};
use common::{floats, ints, mebibyte, tagged, word, MANY, MEBIBYTE, MMMM, REFUSED, TEXT};
use ocaml_boxroot::bigarray::{Bigarray, OCamlArray1};
use ocaml_boxroot::{
    Boxroot, CallError, DomainLock, FromOCaml, OCamlArray, OCamlBytes, OCamlFloat, OCamlInt,
    OCamlList, OCamlString, Runtime, ToOCaml, WeakRoot,
};
use std::error::Error;
use std::fmt::Debug;
use std::process::ExitCode;
use std::sync::Mutex;

ocaml_boxroot::include_bindings!(border: Host, noalloc: Host);
common::samples!();

type Answer<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    Runtime::start().expect("OCaml starts");
    common::main(common::measures!(enter |lock, n| {
        call_int: call_int(lock, n),
        call_string: call_string(lock, n),
        closure_call: closure_call(lock, n),
        list_to: to::<OCamlList<OCamlInt>, _>(lock, n, ints::<isize>(), |head| head == tagged(0)),
        list_from: from(lock, n, border::list_root, ints::<isize>(), |ints| ints.len() == MANY),
        floats_to: to::<OCamlArray<OCamlFloat>, _>(lock, n, floats(), |first| first == 0),
        floats_from: from(lock, n, border::floats_root, floats(), |floats| floats.len() == MANY),
        record_to: to(lock, n, item(1), |id| id == tagged(1)),
        record_from: from(lock, n, |lock| border::item_root(lock, 1), item(1), |item| item.id == 1),
        records_1000_to: to::<OCamlList<OCamlItem>, _>(lock, n, items(), |head| head != tagged(0)),
        records_1000_from: from(lock, n, border::items_root, items(), |items| items.len() == MANY),
        variant_to: variant_to(lock, n),
        variant_from: variant_from(lock, n),
        string_1M_to: to::<OCamlString, _>(lock, n, mebibyte(), |bytes| bytes == MMMM),
        string_1M_from: from(lock, n, border::mebibyte_root, mebibyte(),
                             |text| text.len() == MEBIBYTE),
        bytes_1M_to: to::<OCamlBytes, _>(lock, n, mebibyte().into_bytes(), |bytes| bytes == MMMM),
        bytes_1M_from: from(lock, n, border::mebibyte_of_bytes_root, mebibyte().into_bytes(),
                            |bytes| bytes.len() == MEBIBYTE),
        export_int: Ok(border::export_int(lock, n)?),
        export_string: Ok(border::export_string(lock, n)?),
        export_record: Ok(border::export_record(lock, n)?),
        export_error: Ok(border::export_error(lock, n)?),
        export_noalloc: Ok(noalloc::export_noalloc(lock, n)?),
        export_panic: Ok(border::export_panic(lock, n)?),
        exception: exception(lock, n),
        root: root(lock, n),
        weak_upgrade: weak_upgrade(lock, n),
        buffer_to: buffer_to(lock, n),
        buffer_of_ocaml: Ok(border::buffer_of_ocaml(lock, n as isize)?),
        buffer_view: buffer_view(lock, n),
    } attach))
}

fn enter(measure: impl FnOnce(&mut DomainLock) -> Answer<()>) {
    DomainLock::with(measure).expect("the lock").expect("no error");
}

fn attach(n: usize) {
    for _ in 0..n {
        assert_eq!(DomainLock::with(|_| 1), Ok(1));
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

fn weak_upgrade(lock: &mut DomainLock, n: usize) -> Answer<()> {
    let kept = border::item_root(lock, 1)?;
    let weak = WeakRoot::new(lock, &kept)?;
    for _ in 0..n {
        let root = weak.upgrade(lock).ok_or("the value is gone")?;
        assert_eq!(root.get(lock).raw(), kept.get(lock).raw());
        root.delete_in(lock);
    }
    Ok(())
}

// ---- buffers ----

/// A mebibyte, which Rust gets back when OCaml has collected its bigarray.
struct Buffer(Vec<u8>);

static BUFFERS: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

impl Buffer {
    fn new() -> Buffer {
        let used = BUFFERS.lock().expect("no panic").pop();
        Buffer(used.unwrap_or_else(|| mebibyte().into_bytes()))
    }
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        BUFFERS.lock().expect("no panic").push(std::mem::take(&mut self.0))
    }
}

/// Gives a mebibyte to OCaml, and collects it.
fn buffer_to(lock: &mut DomainLock, n: usize) -> Answer<()> {
    for _ in 0..n {
        let root: Boxroot<OCamlArray1<u8>> = Bigarray::from_owner(lock, Buffer::new())?;
        root.delete_in(lock);
    }
    Ok(())
}

fn buffer_view(lock: &mut DomainLock, n: usize) -> Answer<()> {
    let root: Boxroot<OCamlArray1<u8>> = Bigarray::from_owner(lock, Buffer::new())?;
    for _ in 0..n {
        let cells = root.cells(lock);
        assert_eq!((cells.len(), cells[MEBIBYTE / 2].get()), (MEBIBYTE, b'm'));
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

/// Converts to OCaml, and checks the first word.
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

/// Converts from OCaml, and checks a part.
fn from<T, R>(
    lock: &mut DomainLock,
    n: usize,
    make: impl Fn(&mut DomainLock) -> Result<Boxroot<T>, CallError>,
    expected: R,
    right: impl Fn(&R) -> bool,
) -> Answer<()>
where
    R: FromOCaml<T> + PartialEq + Debug,
{
    let root = make(lock)?;
    assert_eq!(root.to_rust::<R>(lock)?, expected);
    for _ in 0..n {
        assert!(right(&root.to_rust(lock)?));
    }
    Ok(())
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

// ---- functions that OCaml calls ----

/// The functions that `border.ml` declares as `external`.
struct Host;

impl border::Externals for Host {
    fn export_int(_: &mut DomainLock, number: isize) -> Answer<isize> {
        Ok(number + 1)
    }

    fn export_string(_: &mut DomainLock, text: String) -> Answer<String> {
        Ok(text)
    }

    fn export_record(_: &mut DomainLock, item: Item) -> Answer<Item> {
        Ok(Item { id: item.id + 1, ..item })
    }

    fn export_error(_: &mut DomainLock, _: isize) -> Answer<isize> {
        Err(REFUSED.into())
    }

    fn export_panic(_: &mut DomainLock, _: isize) -> Answer<isize> {
        Ok(common::refuse() as isize)
    }
}

impl noalloc::Externals for Host {
    fn export(number: isize) -> isize {
        number + 1
    }
}
