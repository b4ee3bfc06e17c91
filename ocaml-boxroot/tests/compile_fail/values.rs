use ocaml_boxroot::raw::ValueExt;
use ocaml_boxroot::markers::OCamlSeq;
use ocaml_boxroot::{Boxroot, CallError, ConversionError, DomainLock, Error, Exception, FromOCaml, Function, OCamlInt, OCamlList, OCamlString, RootRef, Value};

//# value_over_an_allocation
// A value ends when the collector may run.
fn wrong(lock: &mut DomainLock, root: &Boxroot<OCamlString>) {
    let value = root.get(lock);
    let _ = lock.alloc_string("the collector may run");
    //~^ E0502 cannot borrow `*lock` as mutable because it is also borrowed as immutable
    println!("{}", value.to_string_lossy());
}

//# value_over_a_call
// A value ends when OCaml is called.
type F = Function<(OCamlString,), ()>;

fn wrong(lock: &mut DomainLock, f: &Boxroot<F>, root: &Boxroot<OCamlString>) {
    let value = root.get(lock);
    let _ = f.call(lock, root);
    //~^ E0502 cannot borrow `*lock` as mutable because it is also borrowed as immutable
    println!("{}", value.to_string_lossy());
}

//# value_over_a_name
// A value ends when a name is looked up: OCaml may wait for its table of names, and then the
// collector may run.
fn wrong(lock: &mut DomainLock, text: &Boxroot<OCamlString>, exception: &Exception) -> bool {
    let text = text.get(lock);
    exception.is(lock, "Parse_error") && text.as_str().is_ok()
    //~^ E0502 cannot borrow `*lock` as mutable because it is also borrowed as immutable
}

//# value_over_a_release
// A value ends when the lock is released.
fn wrong(lock: &mut DomainLock, root: &Boxroot<OCamlString>) {
    let value = root.get(lock);
    lock.release(|| ());
    //~^ E0502 cannot borrow `*lock` as mutable because it is also borrowed as immutable
    println!("{}", value.to_string_lossy());
}

//# value_out_of_attach
// A value does not leave the section in which the lock is held.
fn wrong(root: &Boxroot<OCamlString>) {
    let value = DomainLock::with(|lock| root.get(lock));
    //~^ ERROR returning this value requires that `'1` must outlive `'2`
    drop(value);
}

//# value_in_a_panic
// A value does not leave `attach` as the payload of a panic.
fn wrong(root: &Boxroot<OCamlString>) {
    let _ = DomainLock::with(|lock| std::panic::panic_any(root.get(lock)));
    //~^ E0277 within the type `Value<'_, OCamlString>`
    //~| E0277 within the type `DomainLock`
}

//# value_kept_by_a_conversion
// A conversion must copy: it cannot keep the value.
struct Kept<'k>(Value<'k, OCamlString>);

impl<'k> FromOCaml<OCamlString> for Kept<'k> {
    fn from_ocaml<'l>(value: Value<'l, OCamlString>, _: &'l DomainLock) -> Result<Self, ConversionError> {
        Ok(Kept(value))
        //~^ ERROR associated function was supposed to return data with lifetime `'k` but it is
    }
}

//# value_without_bound
// A value has no unbounded lifetime.
fn wrong(lock: &DomainLock, root: &Boxroot<OCamlString>) -> Value<'static, OCamlString> {
    root.get(lock) //~ ERROR returning this value requires that `'1` must outlive `'static`
}

//# value_from_an_integer
// Safe code cannot forge a value.
fn wrong() -> Value<'static, OCamlString> {
    Value::from_raw(0xdead_beef) //~ E0133 from_raw` is unsafe
}

//# lazy_value_over_an_allocation
// An iterator over a list holds a value, which ends at an allocation.
fn wrong(lock: &mut DomainLock, list: &RootRef<OCamlList<OCamlInt>>) {
    for element in list.get(lock).iter() {
        lock.alloc_string(element.to_int().to_string()).unwrap();
        //~^ E0502 cannot borrow `*lock` as mutable because it is also borrowed as immutable
    }
}

//# bytes_over_a_collection
// The bytes of a string end when the collector may run, which may move or free the string.
fn wrong<'l>(lock: &'l mut DomainLock, text: &Boxroot<OCamlString>) -> Result<Vec<u8>, Error> {
    let bytes = text.get(lock).as_bytes();
    lock.alloc_string("this may run the collector")?;
    //~^ E0502 cannot borrow `*lock` as mutable because it is also borrowed as immutable
    Ok(bytes.to_vec())
}

//# box_over_a_collection
// A reference to the content of a box ends when the collector may run, which may drop the content.
fn wrong(lock: &mut DomainLock) -> Result<i32, Error> {
    let (value, _) = lock.alloc_box(1)?;
    let number = value.get();
    lock.alloc_string("this may run the collector")?;
    //~^ E0499 cannot borrow `*lock` as mutable more than once at a time
    Ok(*number)
}

//# sequence_while_iterating
// Computing the next element may run the collector.
fn wrong(lock: &mut DomainLock, seq: &RootRef<OCamlSeq<OCamlInt>>) -> Result<(), CallError> {
    for n in seq.iter::<i32>(lock) {
        lock.alloc_string(n?.to_string())?;
        //~^ E0499 cannot borrow `*lock` as mutable more than once at a time
    }
    Ok(())
}
