//! Waiting for another thread while OCaml's lock is released.

use crate::DomainLock;
use std::sync::{
    Condvar, LockResult, Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockError, TryLockResult,
};
use std::thread::{self, JoinHandle, ScopedJoinHandle};

/// Mutexes that are locked under OCaml's lock.
///
/// A thread that waits for a mutex under OCaml's lock waits for ever, if the mutex's owner needs that
/// lock. On OCaml 5 it is enough that the owner, in another domain, needs a garbage collection: that
/// waits for all domains. So, wherever a mutex is held while OCaml's lock may be needed, all its users
/// wait for it with OCaml's lock released.
///
/// ```
/// use ocaml_boxroot::{Boxroot, DomainLock, Error, MutexExt, OCamlString, ToOCaml};
/// use std::sync::Mutex;
///
/// static NAMES: Mutex<Vec<Boxroot<OCamlString>>> = Mutex::new(Vec::new());
///
/// fn remember(lock: &mut DomainLock, name: &str) -> Result<(), Error> {
///     let mut names = NAMES.lock_released(lock).expect("no thread panics");
///     names.push(name.to_ocaml(lock)?); // the collector may run
///     Ok(())
/// }
/// ```
pub trait MutexExt<T: ?Sized> {
    /// [`Mutex::lock`], waiting with OCaml's lock released.
    fn lock_released(&self, lock: &mut DomainLock) -> LockResult<MutexGuard<'_, T>>;
}

/// What was tried; or else what waiting gives, with OCaml's lock released.
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

/// Readers and writers under OCaml's lock; see [`MutexExt`].
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

/// Values that are made once, under OCaml's lock; see [`MutexExt`].
pub trait OnceLockExt<T> {
    /// [`OnceLock::get_or_init`], waiting for another thread's `make` with OCaml's lock released.
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
            self.get_or_init(|| match DomainLock::attach(make) {
                Ok(value) => value,
                Err(error) => panic!("boxroot: {error}"),
            })
        })
    }
}

/// Conditions that are waited for under OCaml's lock; see [`MutexExt`].
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

/// Threads that are joined under OCaml's lock, which they may need; see [`MutexExt`].
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
