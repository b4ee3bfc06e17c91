//! The operations on roots without the feature `debug-checks`: calls of C, or the inlined
//! operations of `fast.rs`.

#[cfg(not(inlined_thread_locals))]
use crate::bindings;
#[cfg(inlined_thread_locals)]
use crate::fast;
use crate::{slot, BoxRoot, Value, ValueCell};

/// Creates a root that owns `init`. Returns `None` on failure, with `errno` set to `EPERM` if this
/// thread does not hold the lock or the library is not running, or to `ENOMEM` if memory ran out.
///
/// # Safety
///
/// `init` is a valid OCaml value. The call is not made in the finaliser of a custom block. In a
/// hook that runs inside a collection, `init` is not a block of the minor heap. On OCaml 4, the
/// call is not made in a thread-local destructor of a `Thread.create` thread: the thread does not
/// hold the lock there, and the library cannot detect that.
#[inline]
pub unsafe extern "C" fn boxroot_create(init: Value) -> Option<BoxRoot> {
    // SAFETY: as promised by the caller; both functions check everything else.
    unsafe {
        #[cfg(inlined_thread_locals)]
        {
            fast::boxroot_create(init)
        }
        #[cfg(not(inlined_thread_locals))]
        {
            bindings::boxroot_create(init)
        }
    }
}

/// Returns the value that `root` owns.
///
/// # Safety
///
/// `root` is live and the calling thread holds the lock. The result is an unrooted value: it is
/// valid until the garbage collector may run. A hook that runs inside a collection reads only roots
/// that the calling domain created.
#[inline]
pub unsafe fn boxroot_get(root: BoxRoot) -> Value {
    // SAFETY: a handle is the address of a slot, and a live root's slot is readable under the lock
    // (caller).
    unsafe { *slot(root) }
}

/// Returns the address where `root` keeps its value, until the root is deleted or modified. Never
/// `NULL`. Reading through it needs the lock; writing through it is not allowed.
#[inline]
pub fn boxroot_get_ref(root: BoxRoot) -> *const ValueCell {
    slot(root).cast()
}

/// Deletes `root`: its value is no longer kept alive. Any thread may do this at any time, with or
/// without the lock, even after the domain that created the root has ended, and after shutdown.
/// Infallible.
///
/// # Safety
///
/// `root` is live, and neither it nor a copy of the handle is used afterwards. If the program
/// started OCaml with `caml_startup_pooled`, the call is not made between `caml_shutdown` and
/// [`boxroot_teardown`](crate::boxroot_teardown): the shutdown frees all memory of the runtime.
#[inline]
pub unsafe extern "C" fn boxroot_delete(root: BoxRoot) {
    // SAFETY: `root` is live, and not used again (caller).
    unsafe {
        #[cfg(inlined_thread_locals)]
        fast::boxroot_delete(root);
        #[cfg(not(inlined_thread_locals))]
        bindings::boxroot_delete(Some(root));
    }
}

/// Replaces the value that `*root` owns by `new_value`. May change `*root`, because the root may
/// move. Returns `false` on failure, with `errno` as for [`boxroot_create`]; then the root is
/// intact.
///
/// # Safety
///
/// `*root` is live, and no other thread uses it during the call. If it moves, copies of the old
/// handle are not used afterwards. The conditions of [`boxroot_create`] hold for `new_value` and
/// for the place of the call.
#[inline]
pub unsafe extern "C" fn boxroot_modify(root: *mut BoxRoot, new_value: Value) -> bool {
    // SAFETY: as promised by the caller. `BoxRoot` has the representation of a C `boxroot` that is
    // not NULL, and the C function never stores NULL.
    unsafe {
        #[cfg(inlined_thread_locals)]
        {
            fast::boxroot_modify(root, new_value)
        }
        #[cfg(not(inlined_thread_locals))]
        {
            bindings::boxroot_modify(root.cast(), new_value)
        }
    }
}
