//! The Rust side of `main.ml`: a queue of messages between domains. One domain creates a root and puts it in the queue, and
//! another domain takes it out and drops it. The root's slot returns to the first domain by itself.

use ocaml_boxroot::{export, Boxroot, Error, OCamlInt};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

/// `{ sender : int; text : string }`: it does not change, so several domains may use it.
enum Message {}

static QUEUE: Mutex<VecDeque<Boxroot<Message>>> = Mutex::new(VecDeque::new());
static ARRIVED: Condvar = Condvar::new();

// SAFETY: main.ml declares these functions with these types.
export! {
    unsafe fn mailbox_send(lock, message: Message) -> Result<(), Error> {
        let message = message.clone_in(lock)?;
        // This mutex is only held for a moment, without using OCaml.
        QUEUE.lock().unwrap_or_else(PoisonError::into_inner).push_back(message);
        ARRIVED.notify_one();
        Ok(())
    }

    /// Waits for a message.
    unsafe fn mailbox_receive(lock) -> Result<Message, Error> {
        // While this domain waits, it takes part in the collections of others.
        Ok(lock.release(|| {
            let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                match queue.pop_front() {
                    Some(message) => return message,
                    None => queue = ARRIVED.wait(queue).unwrap_or_else(PoisonError::into_inner),
                }
            }
        }))
    }

    /// `(live roots, deletes that came from elsewhere)`
    unsafe fn mailbox_stats(_lock) -> Result<(OCamlInt, OCamlInt) as (usize, u64), Error> {
        let stats = ocaml_boxroot::debug::stats();
        Ok((stats.live_roots, stats.deferred_deletes))
    }
}
