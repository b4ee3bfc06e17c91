//! Functions that wait for another thread with OCaml's lock released.

use crate::DomainLock;
use std::sync::{
    Condvar, LockResult, Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockError, TryLockResult,
};
use std::thread::{self, JoinHandle, ScopedJoinHandle};

/// Mutexes in code that holds OCaml's lock.
///
/// If a thread holds OCaml's lock and waits for a mutex whose owner needs that lock, both wait
/// forever. On OCaml 5 this also happens if the owner is in another domain and needs a garbage
/// collection, because a collection waits for all domains. So if an owner of a mutex may need
/// OCaml's lock, every thread should release OCaml's lock while it waits for the mutex. This
/// includes all mutexes that are locked with these methods, which take OCaml's lock again while
/// they hold the mutex.
///
/// ```
/// use ocaml_boxroot::sync::MutexExt;
/// use ocaml_boxroot::{Boxroot, ConversionError, DomainLock, OCamlString, ToOCaml};
/// use std::sync::Mutex;
///
/// static NAMES: Mutex<Vec<Boxroot<OCamlString>>> = Mutex::new(Vec::new());
///
/// fn remember(lock: &mut DomainLock, name: &str) -> Result<(), ConversionError> {
///     let mut names = NAMES.lock_released(lock).expect("no thread panics");
///     names.push(name.to_ocaml(lock)?); // the collector may run
///     Ok(())
/// }
/// ```
pub trait MutexExt<T: ?Sized> {
    /// [`Mutex::lock`], waiting with OCaml's lock released.
    fn lock_released(&self, lock: &mut DomainLock) -> LockResult<MutexGuard<'_, T>>;
}

/// Returns the guard in `tried`, or waits for one with OCaml's lock released.
fn or_wait_released<G>(
    lock: &mut DomainLock,
    tried: TryLockResult<G>,
    wait: impl FnOnce() -> LockResult<G>,
) -> LockResult<G> {
    match tried {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(error)) => Err(error),
        Err(TryLockError::WouldBlock) => lock.release(wait),
    }
}

impl<T: ?Sized> MutexExt<T> for Mutex<T> {
    fn lock_released(&self, lock: &mut DomainLock) -> LockResult<MutexGuard<'_, T>> {
        or_wait_released(lock, self.try_lock(), || self.lock())
    }
}

/// Reader-writer locks in code that holds OCaml's lock; see [`MutexExt`].
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::sync::RwLockExt;
/// use std::sync::RwLock;
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let names = RwLock::new(vec!["Ada"]);
/// names.write_released(lock).expect("no thread panics").push("Blaise");
/// assert_eq!(names.read_released(lock).expect("no thread panics").len(), 2);
/// # Ok(()) });
/// ```
pub trait RwLockExt<T: ?Sized> {
    /// [`RwLock::read`], waiting with OCaml's lock released.
    fn read_released(&self, lock: &mut DomainLock) -> LockResult<RwLockReadGuard<'_, T>>;

    /// [`RwLock::write`], waiting with OCaml's lock released.
    fn write_released(&self, lock: &mut DomainLock) -> LockResult<RwLockWriteGuard<'_, T>>;
}

impl<T: ?Sized> RwLockExt<T> for RwLock<T> {
    fn read_released(&self, lock: &mut DomainLock) -> LockResult<RwLockReadGuard<'_, T>> {
        or_wait_released(lock, self.try_read(), || self.read())
    }

    fn write_released(&self, lock: &mut DomainLock) -> LockResult<RwLockWriteGuard<'_, T>> {
        or_wait_released(lock, self.try_write(), || self.write())
    }
}

/// Values that are initialised once, in code that holds OCaml's lock; see [`MutexExt`]. Do not use
/// OCaml in the initialiser of a [`LazyLock`](std::sync::LazyLock): it has no token, so it panics
/// if a calling frame has one, and may hang otherwise.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::sync::OnceLockExt;
/// use ocaml_boxroot::{Boxroot, OCamlString, ToOCaml};
/// use std::sync::OnceLock;
///
/// static GREETING: OnceLock<Boxroot<OCamlString>> = OnceLock::new();
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let greeting =
///     GREETING.get_or_init_released(lock, |lock| "hello".to_ocaml(lock).expect("memory"));
/// assert_eq!(greeting.get(lock).as_str()?, "hello");
/// # Ok(()) });
/// ```
pub trait OnceLockExt<T> {
    /// Like [`OnceLock::get_or_init`], but `make` runs under OCaml's lock, and other threads wait
    /// for it with OCaml's lock released.
    ///
    /// # Panics
    ///
    /// If this thread cannot take the lock again to run `make`.
    fn get_or_init_released(
        &self,
        lock: &mut DomainLock,
        make: impl FnOnce(&mut DomainLock) -> T,
    ) -> &T;
}

impl<T> OnceLockExt<T> for OnceLock<T> {
    fn get_or_init_released(
        &self,
        lock: &mut DomainLock,
        make: impl FnOnce(&mut DomainLock) -> T,
    ) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        lock.release(|| {
            self.get_or_init(|| match DomainLock::with(make) {
                Ok(value) => value,
                Err(error) => panic!("boxroot: {error}"),
            })
        })
    }
}

/// Condition variables in code that holds OCaml's lock; see [`MutexExt`].
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::sync::{CondvarExt, MutexExt};
/// use ocaml_boxroot::DomainLock;
/// use std::sync::{Condvar, Mutex};
/// use std::thread;
///
/// static READY: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
/// # ocaml_boxroot::macro_support::example(|lock| {
/// thread::spawn(|| {
///     DomainLock::with(|lock| *READY.0.lock_released(lock).unwrap() = true).unwrap();
///     READY.1.notify_one();
/// });
/// let mut ready = READY.0.lock_released(lock)?;
/// while !*ready {
///     ready = READY.1.wait_released(lock, ready)?;
/// }
/// # Ok(()) });
/// ```
pub trait CondvarExt {
    /// [`Condvar::wait`], with OCaml's lock released.
    fn wait_released<'a, T>(
        &self,
        lock: &mut DomainLock,
        guard: MutexGuard<'a, T>,
    ) -> LockResult<MutexGuard<'a, T>>;
}

impl CondvarExt for Condvar {
    fn wait_released<'a, T>(
        &self,
        lock: &mut DomainLock,
        guard: MutexGuard<'a, T>,
    ) -> LockResult<MutexGuard<'a, T>> {
        lock.release(|| self.wait(guard))
    }
}

/// Joining a thread, which may need OCaml's lock, in code that holds it; see [`MutexExt`].
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::sync::JoinHandleExt;
/// use ocaml_boxroot::DomainLock;
/// use std::thread;
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let length = thread::spawn(|| {
///     DomainLock::attach(|lock| lock.alloc_string("text").map(|(text, _)| text.as_bytes().len()))
/// });
/// assert_eq!(length.join_released(lock).expect("no panic")?, 4);
/// # Ok(()) });
/// ```
pub trait JoinHandleExt<T> {
    /// [`JoinHandle::join`], with OCaml's lock released.
    fn join_released(self, lock: &mut DomainLock) -> thread::Result<T>;
}

impl<T> JoinHandleExt<T> for JoinHandle<T> {
    fn join_released(self, lock: &mut DomainLock) -> thread::Result<T> {
        lock.release(|| self.join())
    }
}

impl<T> JoinHandleExt<T> for ScopedJoinHandle<'_, T> {
    fn join_released(self, lock: &mut DomainLock) -> thread::Result<T> {
        lock.release(|| self.join())
    }
}
