//! Whether this process has started its runtime: a state under a mutex that is free in the child of a fork.

use crate::{ffi, Error};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::thread::ThreadId;

/// Whether this process has started its runtime by `Runtime`.
pub(super) enum State {
    NotStarted,
    /// This thread is starting the runtime, in the process of this generation (`c/runtime.c`).
    Starting(ThreadId, u32),
    Started,
    Failed(Error),
}

struct Shared(UnsafeCell<State>);

// SAFETY: only `StateGuard`, of which there is one at a time, uses the state.
unsafe impl Sync for Shared {}

static STATE: Shared = Shared(UnsafeCell::new(State::NotStarted));

/// Holds the mutex in `../c/runtime.c`, and with it the state.
pub(super) struct StateGuard(PhantomData<*mut ()>);

pub(super) fn state() -> StateGuard {
    // SAFETY: this thread does not hold the mutex: no function here takes it while it has a guard.
    unsafe { ffi::obx_lock_state() };
    StateGuard(PhantomData)
}

impl StateGuard {
    /// Waits until the state may have changed, or boxroot was set up.
    pub(super) fn wait(&mut self) {
        // SAFETY: this thread holds the mutex.
        unsafe { ffi::obx_wait_for_state() }
    }
}

impl Deref for StateGuard {
    type Target = State;

    fn deref(&self) -> &State {
        // SAFETY: this thread holds the mutex.
        unsafe { &*STATE.0.get() }
    }
}

impl DerefMut for StateGuard {
    fn deref_mut(&mut self) -> &mut State {
        // SAFETY: this thread holds the mutex, and the guard is borrowed mutably.
        unsafe { &mut *STATE.0.get() }
    }
}

impl Drop for StateGuard {
    fn drop(&mut self) {
        // SAFETY: this thread holds the mutex.
        unsafe { ffi::obx_unlock_state() }
    }
}
