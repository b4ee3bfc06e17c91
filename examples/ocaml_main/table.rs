//! The Rust side of `main.ml`: a sorted table of OCaml values, which OCaml owns.

use ocaml_boxroot::exceptions::NotFound;
use ocaml_boxroot::markers::OCamlBox;
use ocaml_boxroot::{export, Boxroot, DomainLock, Function, OCamlInt, OCamlString, RootRef};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The marker of a table's elements, whose type in OCaml is `'a`. Several threads may use the
/// elements, because the types in `main.ml` allow it.
enum Element {}

/// The roots are in the table, so an element lives as long as it is in the table. If an element
/// refers to the table, neither is ever collected.
type Table = Mutex<BTreeMap<String, Boxroot<Element>>>;

/// Locks the entries. A thread holds this mutex only briefly; meanwhile it neither waits for
/// OCaml's lock nor allocates in OCaml.
fn entries<'l>(
    table: &RootRef<OCamlBox<Table>>,
    lock: &'l DomainLock,
) -> MutexGuard<'l, BTreeMap<String, Boxroot<Element>>> {
    table.get(lock).get().lock().unwrap_or_else(PoisonError::into_inner)
}

// SAFETY: main.ml declares these functions with these types.
export! {
    unsafe fn table_create(lock) -> Result<OCamlBox<Table>, ocaml_boxroot::ConversionError> {
        let (table, lock) = lock.alloc_box(Table::default())?;
        Boxroot::try_new(lock, table)
    }

    unsafe fn table_set(lock, table: OCamlBox<Table>, key: OCamlString as String, element: Element)
        -> Result<(), ocaml_boxroot::ConversionError>
    {
        let element = element.clone_in(lock)?;
        entries(table, lock).insert(key, element);
        Ok(())
    }

    /// Raises `Not_found`.
    unsafe fn table_get(lock, table: OCamlBox<Table>, key: OCamlString as String)
        -> Result<Element, Box<dyn Error>>
    {
        let found = entries(table, lock).get(&key).map(|element| element.clone_in(lock));
        match found {
            Some(element) => Ok(element?),
            None => Err(NotFound.into()),
        }
    }

    /// Calls an OCaml function for each entry from `first` on, in order. If the function raises,
    /// OCaml's caller sees the exception.
    unsafe fn table_iter_from(
        lock, table: OCamlBox<Table>, first: OCamlString as String,
        f: Function<(OCamlString, Element), ()>,
    ) -> Result<(), Box<dyn Error>> {
        // The function may change the table, so it is called for the entries that exist now.
        let now: Result<Vec<_>, _> = entries(table, lock)
            .range(first..)
            .map(|(key, element)| Ok::<_, ocaml_boxroot::ConversionError>((key.clone(), element.clone_in(lock)?)))
            .collect();
        for (key, element) in now? {
            let (key, now) = lock.alloc_string(key)?;
            let key = Boxroot::try_new(now, key)?;
            f.call(lock, &key, &element)?;
        }
        Ok(())
    }

    unsafe fn table_length(lock, table: OCamlBox<Table>) -> Result<OCamlInt as usize, ocaml_boxroot::ConversionError> {
        Ok(entries(table, lock).len())
    }
}
