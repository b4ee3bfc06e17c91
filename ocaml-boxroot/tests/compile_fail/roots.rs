use ocaml_boxroot::markers::OCamlException;
use ocaml_boxroot::{Boxroot, DomainLock, Exception, OCamlInt, OCamlString, RootRef, Value};

//# root_changed_while_borrowed
// A root cannot change while a reference to it is in use.
fn wrong(lock: &DomainLock, root: &mut Boxroot<OCamlInt>) {
    let borrowed: &RootRef<OCamlInt> = root;
    root.set(lock, Value::int(1));
    //~^ E0502 cannot borrow `*root` as mutable because it is also borrowed as immutable
    borrowed.get(lock);
}

//# root_copied
// A root is not `Copy`, and cannot be cloned without a token.
fn wrong(root: &Boxroot<OCamlString>) -> Boxroot<OCamlString> {
    root.clone() //~ E0308 expected `Boxroot<OCamlString>`, found `&Boxroot<OCamlString>`
}

//# root_deleted_twice
// A root cannot be deleted twice.
fn wrong(lock: &DomainLock, root: Boxroot<OCamlString>) {
    root.delete_in(lock);
    drop(root); //~ E0382 use of moved value: `root`
}

//# root_read_after_delete
// A root cannot be used after it was deleted.
fn wrong(lock: &DomainLock, root: Boxroot<OCamlString>) -> String {
    root.delete_in(lock);
    root.get(lock).to_string_lossy() //~ E0382 borrow of moved value: `root`
}

//# root_ref_outlives_its_root
// A reference to a root cannot outlive it.
fn wrong(root: Boxroot<OCamlInt>) -> i32 {
    let borrowed: &RootRef<OCamlInt> = &root;
    drop(root); //~ E0505 cannot move out of `root` because it is borrowed
    std::mem::size_of_val(borrowed) as i32
}

//# root_of_another_type
// The type of a root's value cannot change.
fn wrong(root: Boxroot<OCamlInt>) -> Boxroot<OCamlString> {
    root //~ E0308 expected `Boxroot<OCamlString>`, found `Boxroot<OCamlInt>`
}

//# exception_value_outlives_it
// An exception's value does not outlive the exception.
fn wrong<'a>(exception: Exception) -> Option<&'a RootRef<OCamlException>> {
    exception.value() //~ E0515 cannot return value referencing function parameter `exception`
}
