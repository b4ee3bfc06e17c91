use ocaml_boxroot::markers::OCamlBox;
use ocaml_boxroot::{Boxroot, DomainLock, Error, Function, OCamlAny, OCamlInt, OCamlString, Value, ocaml_type};
use std::cell::Cell;
use std::rc::Rc;

//# token_on_another_thread
// A token stays on its thread: it is not `Send`.
fn wrong(lock: &mut DomainLock) {
    std::thread::scope(|scope| {
        scope.spawn(|| lock.alloc_string("x").map(|_| ())); //~ E0277 within the type `DomainLock`
    });
}

//# token_shared_with_a_thread
// A token stays on its thread: it is not `Sync`.
fn wrong(lock: &DomainLock, root: &Boxroot<OCamlString>) {
    std::thread::scope(|scope| {
        scope.spawn(|| root.get(lock).to_string_lossy()); //~ E0277 within the type `DomainLock`
    });
}

//# value_on_another_thread
// A value stays on its thread.
fn wrong(lock: &DomainLock, root: &Boxroot<OCamlString>) {
    let value = root.get(lock);
    std::thread::scope(|scope| {
        scope.spawn(|| println!("{}", value.to_string_lossy()));
        //~^ E0277 within the type `Value<'_, OCamlString>`
        //~| E0277 within the type `DomainLock`
    });
}

//# any_on_another_thread
// A root of a value of unknown type is not `Send`, because the value's type may not be.
fn send<T: Send>(_: T) {}

fn wrong(root: Boxroot<OCamlAny>) {
    send(root) //~ E0277 `*const ()` cannot be sent between threads safely
    //~| E0277 `*const ()` cannot be shared between threads safely
}

//# root_of_a_type_that_is_not_send
// A root is only `Send` if its type is.
struct OnThisThread(#[allow(dead_code)] *const ());

fn wrong(root: Boxroot<OnThisThread>) {
    std::thread::spawn(move || drop(root));
    //~^ E0277 `*const ()` cannot be sent between threads safely
    //~| E0277 `*const ()` cannot be shared between threads safely
}

//# root_of_a_type_that_is_not_sync
// A root of a type that is not `Sync` is not `Send`, because this thread may have another root of
// the value.
fn wrong(root: Boxroot<Cell<u8>>) {
    std::thread::spawn(|| drop(root)); //~ E0277 `Cell<u8>` cannot be shared between threads safely
}

//# type_of_a_part_that_is_not_send
// A value cannot be sent to other threads if a nested part cannot.
ocaml_type! {
    struct Record { number: OCamlInt, variant: Option<Variant> }
    enum Variant { Nothing, Something(OCamlAny) }
}

fn on_another_thread<T: Send>(_: T) {}

fn roots(record: Boxroot<Record>) {
    on_another_thread(record) //~ E0277 `*const ()` cannot be sent between threads safely
    //~| E0277 `*const ()` cannot be shared between threads safely
}

//# box_of_a_type_that_is_not_send
// The content of a box must be `Send`, because OCaml may drop it on any thread.
fn wrong(lock: &mut DomainLock) -> Result<(), Error> {
    lock.alloc_box(Rc::new(1))?; //~ E0277 `Rc<{integer}>` cannot be sent between threads safely
    Ok(())
}

//# box_of_a_type_that_is_not_sync
// The content of a box must be `Sync`, because every thread can read it.
fn wrong<'l>(value: Value<'l, OCamlBox<Cell<i32>>>) -> &'l Cell<i32> {
    value.get()
    //~^ E0599 the method `get` exists for struct `Value<'l, OCamlBox<Cell<i32>>>`, but its trait
}

//# function_of_a_type_that_is_not_send
// A function with a type that is bound to one thread cannot be sent to other threads.
fn wrong(function: Boxroot<Function<(OCamlInt,), Rc<u8>>>) {
    std::thread::spawn(|| drop(function)); //~ E0277 `Rc<u8>` cannot be sent between threads safely
    //~| E0277 `Rc<u8>` cannot be shared between threads safely
}

//# closure_that_is_not_sync
// A Rust function for OCaml must be `Sync`, because OCaml may call it on several threads at once.
fn wrong(lock: &mut DomainLock) -> Result<(), Error> {
    let count = Cell::new(0);
    Function::<(), OCamlInt>::from_rust(lock, move |_| {
        //~^ E0277 `Cell<i32>` cannot be shared between threads safely
        count.set(count.get() + 1);
        Ok(count.get())
    })?;
    Ok(())
}

//# closure_that_changes_itself
// A Rust function for OCaml cannot change captured variables, because OCaml may call it again while
// a call is running.
fn wrong(lock: &mut DomainLock) -> Result<(), Error> {
    let mut count = 0;
    Function::<(), OCamlInt>::from_rust(lock, move |_| {
        count += 1;
        //~^ E0594 cannot assign to `count`, as it is a captured variable in a `Fn` closure
        Ok(count)
    })?;
    Ok(())
}
