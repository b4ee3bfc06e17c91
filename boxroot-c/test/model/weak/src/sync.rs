//! Loom's threads, atomics and cells, or the standard library's.

#[cfg(loom)]
pub use loom::{cell::UnsafeCell, sync::atomic::AtomicUsize, sync::Arc, thread};
#[cfg(not(loom))]
pub use std::{sync::atomic::AtomicUsize, sync::Arc, thread};

pub use std::sync::atomic::Ordering;

/// A plain variable. Loom and Miri detect races on it.
#[cfg(not(loom))]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub fn new(value: T) -> Self {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// The number of times that a thread may be preempted in one execution.
#[cfg(loom)]
const PREEMPTIONS: usize = 3;

/// Runs the scenario in every execution that loom explores, and returns how many there were.
#[cfg(loom)]
pub fn explore(scenario: impl Fn() + Sync + Send + 'static) -> usize {
    let executions = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = executions.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        scenario()
    });
    executions.load(Ordering::Relaxed)
}

#[cfg(not(loom))]
pub fn explore(scenario: impl Fn()) -> usize {
    scenario();
    1
}
