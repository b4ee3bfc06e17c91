//! Rust functions that walk.ml calls.

use crate::actor::Actor;
use crate::roots::{Entry, Root};
use crate::{operations, Settings};
use ocaml_boxroot::{export, sys, DomainLock, Error, OCamlInt, OCamlString};

type AnyError = Box<dyn std::error::Error>;

export! {
    /// external actor : int -> unit = "walk_actor": the whole walk of an actor
    unsafe fn walk_actor(lock, number: OCamlInt as u32) -> Result<() as (), Error> {
        let mut actor = Actor::new(number, Settings::get(), lock);
        while !actor.is_done() {
            actor.walk(lock, 200);
            lock.release(std::thread::yield_now);
        }
        actor.end(lock);
        Ok(())
    }

    /// external steps : int -> int -> int = "walk_steps"
    unsafe fn walk_steps(lock, address: OCamlInt as usize, how: OCamlInt as usize)
        -> Result<OCamlInt as usize, AnyError>
    {
        // SAFETY: the actor at this address waits for this call, in `call_steps`.
        let actor = unsafe { &mut *(address as *mut Actor) };
        operations::steps_for_ocaml(actor, lock)?;
        Ok(how)
    }

    /// external drop : int -> unit = "walk_drop": called in finalisers
    unsafe fn walk_drop(_lock, address: OCamlInt as usize) -> Result<() as (), Error> {
        // SAFETY: a box from `drop_by_finaliser`, which a finaliser gets once.
        drop(unsafe { Box::from_raw(address as *mut Root) });
        Ok(())
    }

    /// external echo : string -> int -> string = "walk_echo": reads the text without a copy
    unsafe fn walk_echo(lock, text: OCamlString, times: OCamlInt as usize)
        -> Result<OCamlString as String, Error>
    {
        operations::collect_now(lock, 0, 0);
        Ok(text.get(lock).to_string_lossy().repeat(times))
    }
}

/// external assumed : int -> int = "walk_assumed": uses `assume_held`.
#[no_mangle]
unsafe extern "C" fn walk_assumed(address: sys::Value) -> sys::Value {
    // SAFETY: OCaml calls, so this thread holds the lock; the token of `call_steps` is lent.
    let checked = unsafe {
        DomainLock::assume_held(|lock| {
            let entry = Entry::new(address as u64, lock);
            operations::collect_now(lock, 0, 0);
            entry.check(lock);
        })
    };
    checked.expect("it is held");
    address
}
