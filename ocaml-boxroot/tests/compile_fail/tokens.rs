use ocaml_boxroot::{Boxroot, DomainLock, Error, Function, OCamlInt, OCamlString};
use std::cell::Cell;

//# token_in_a_thread_local
// A token is only borrowed for a call: it cannot be kept for a destructor.
thread_local! {
    static ASIDE: Cell<Option<&'static mut DomainLock>> = const { Cell::new(None) };
}

fn wrong() {
    let _ = DomainLock::with(|lock| ASIDE.set(Some(lock)));
    //~^ E0521 `lock` escapes the closure body here
}

//# token_in_release
// `release` borrows the token, so its closure cannot use it.
fn wrong(lock: &mut DomainLock, root: &Boxroot<OCamlString>) {
    lock.release(|| println!("{}", root.get(lock).to_string_lossy()));
    //~^ E0502 cannot borrow `*lock` as mutable because it is also borrowed as immutable
}

//# token_made_by_hand
// Safe code cannot make a token.
fn wrong() {
    let _lock = DomainLock {};
    //~^ ERROR cannot construct `DomainLock` with struct literal syntax due to private fields
}

//# token_out_of_attach
// A token does not leave the section in which the lock is held.
fn wrong() {
    let lock: Result<&mut DomainLock, _> = DomainLock::with(|lock| lock);
    //~^ ERROR returning this value requires that `'1` must outlive `'2`
    drop(lock);
    let lock = DomainLock::attach(|lock| Ok::<_, Error>(lock));
    //~^ ERROR returning this value requires that `'1` must outlive `'2`
    drop(lock);
}

//# token_replaced
// A token cannot be replaced, because there is no other token to put in its place.
fn wrong(lock: &mut DomainLock) -> DomainLock {
    std::mem::take(lock) //~ E0277 the trait bound `DomainLock: Default` is not satisfied
}

//# tokens_swapped
// Tokens cannot be swapped, because the outer one is borrowed while there is an inner one.
fn wrong(outer: &mut DomainLock) {
    outer.release(|| DomainLock::with(|inner| std::mem::swap(outer, inner)));
    //~^ E0501 cannot borrow `*outer` as mutable because previous closure requires unique access
    //~| E0500 closure requires unique access to `*outer` but it is already borrowed
}

//# root_read_without_a_token
// Reading a root needs a token.
fn wrong(root: &Boxroot<OCamlString>) -> String {
    root.get().to_string_lossy()
    //~^ E0061 this method takes 1 argument but 0 arguments were supplied
}

//# closure_with_its_token
// A closure cannot capture a token: it gets one from its caller.
fn wrong(lock: &'static mut DomainLock) -> Result<(), Error> {
    let mine = &*lock;
    Function::<(), OCamlInt>::from_rust(lock, move |_| Ok(format!("{mine:?}").len()))?;
    //~^ E0277 within the type `DomainLock`
    Ok(())
}
