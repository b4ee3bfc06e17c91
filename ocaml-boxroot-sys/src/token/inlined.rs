use super::Domain;
use crate::bindings::{self, bxr_pool_head};
use crate::{slot, BoxRoot, Value};
use core::ptr::{addr_of_mut, with_exposed_provenance_mut, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

const POOL_SIZE: usize = 1 << bindings::BXR_POOL_LOG;

/// [`boxroot_create`](crate::boxroot_create) without its checks.
///
/// # Safety
///
/// This thread holds the lock of `domain`, no root scan of it is running, and `value` is a
/// valid OCaml value.
#[inline(always)]
pub unsafe fn create(domain: Domain, value: Value) -> Option<BoxRoot> {
    // SAFETY: the lock is held, so nobody else touches the record, its current pool, or a
    // free slot, which holds the handle of the next one, or NULL, plus 1.
    unsafe {
        let pool = (*domain.0.as_ptr()).current;
        let Some(root) = (*pool).free else {
            return bindings::bxr_create_slow(value);
        };
        (*pool).free =
            NonNull::new(with_exposed_provenance_mut(*slot(root) as usize - 1)).map(BoxRoot);
        *slot(root) = value;
        Some(root)
    }
}

/// [`boxroot_delete`](crate::boxroot_delete), in a few instructions if `domain` owns `root`.
///
/// # Safety
///
/// This thread holds the lock of `domain`, no root scan of it is running, and `root` is live
/// and not used afterwards.
#[inline(always)]
pub unsafe fn delete(domain: Domain, root: BoxRoot) {
    let pool = pool_of(root);
    // SAFETY: a live root's pool is mapped; the owner may free its slots under its lock.
    unsafe {
        if pool == (*domain.0.as_ptr()).uncounted {
            return push(pool, root);
        }
        if !is_fast_owner(domain, pool) {
            return bindings::bxr_delete_slow(Some(root));
        }
        push(pool, root);
        (*pool).countdown -= 1;
        if (*pool).countdown == 0 {
            bindings::bxr_pool_event(pool);
        }
    }
}

/// [`boxroot_modify`](crate::boxroot_modify), in a few instructions if `*root` is young.
///
/// # Safety
///
/// This thread holds the lock of `domain`, no root scan of it is running, `*root` is live and
/// nobody else uses it, and `value` is a valid OCaml value.
#[inline(always)]
pub unsafe fn modify(domain: Domain, root: &mut BoxRoot, value: Value) -> bool {
    let pool = pool_of(*root);
    // SAFETY: a live root's pool is mapped; the owner may store any value in a young pool, and
    // an immediate in any.
    unsafe {
        if is_fast_owner(domain, pool)
            && ((*pool).epoch == (*domain.0.as_ptr()).epoch || value & 1 == 1)
        {
            *slot(*root) = value;
            return true;
        }
        bindings::bxr_modify_slow((root as *mut BoxRoot).cast(), value)
    }
}

/// Puts a root's slot on its pool's free list.
///
/// # Safety
///
/// `pool` is the pool of `root`; the lock of the domain that owns it is held.
#[inline(always)]
unsafe fn push(pool: *mut bxr_pool_head, root: BoxRoot) {
    // SAFETY: the owner may write slots and the free list, under its lock (caller).
    unsafe {
        let next = (*pool).free.map_or(0, |next| slot(next).expose_provenance());
        *slot(root) = next as isize + 1;
        (*pool).free = Some(root);
    }
}

/// Pools are aligned to their size.
#[inline(always)]
fn pool_of(root: BoxRoot) -> *mut bxr_pool_head {
    root.0.as_ptr().map_addr(|address| address & !(POOL_SIZE - 1)).cast()
}

/// Whether the fast paths of `pool` are open to `domain`.
///
/// # Safety
///
/// `pool` is the pool of a live root.
#[inline(always)]
unsafe fn is_fast_owner(domain: Domain, pool: *mut bxr_pool_head) -> bool {
    // SAFETY: the pool is mapped (caller); the read is atomic, because another domain that
    // owns the pool may be changing the field.
    let owner = unsafe { AtomicPtr::from_ptr(addr_of_mut!((*pool).fast_owner)) };
    owner.load(Ordering::Relaxed) == domain.0.as_ptr()
}
