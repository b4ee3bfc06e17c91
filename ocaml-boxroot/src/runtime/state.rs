//! Whether this process has started its runtime: a state under a mutex that is free in the child of
//! a fork.

use crate::ffi::{self, Generation};
use crate::StartError;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread::ThreadId;

/// Whether this process has started its runtime through `Runtime`.
pub(super) enum State {
    NotStarted,
    /// This thread is starting the runtime, in the process of this generation.
    Starting(ThreadId, Generation),
    Started,
    Failed(StartError),
}

/// The state; null at first. A state is never freed (a process has at most three) and never
/// changed, so the child of a fork sees a complete one, whatever other threads were doing.
static STATE: AtomicPtr<State> = AtomicPtr::new(null_mut());

/// Holds the mutex in `../c/runtime.c`, and with it the state.
pub(super) struct StateGuard(PhantomData<*mut ()>);

pub(super) fn state() -> StateGuard {
    // SAFETY: this thread does not hold the mutex: no function here takes it while it has a guard.
    unsafe { ffi::obx_lock_state() };
    StateGuard(PhantomData)
}

impl StateGuard {
    pub(super) fn set(&mut self, state: State) {
        STATE.store(Box::into_raw(Box::new(state)), Ordering::Release);
    }

    /// Releases the mutex for a moment, so that the state can change.
    pub(super) fn wait(&mut self) {
        // SAFETY: this thread holds the mutex.
        unsafe { ffi::obx_wait_for_state() }
    }
}

impl Deref for StateGuard {
    type Target = State;

    fn deref(&self) -> &State {
        // SAFETY: a state is never freed, and never changed.
        unsafe { STATE.load(Ordering::Acquire).as_ref() }.unwrap_or(&State::NotStarted)
    }
}

impl Drop for StateGuard {
    fn drop(&mut self) {
        // SAFETY: this thread holds the mutex.
        unsafe { ffi::obx_unlock_state() }
    }
}
