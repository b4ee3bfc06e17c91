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
        // Another domain may be writing to the pool's head: a run of deletes there looks once.
        if pool == (*domain.0.as_ptr()).remote_pool {
            let outgoing = &mut (*domain.0.as_ptr()).outgoing;
            let bit = slot(root).addr().wrapping_sub(outgoing.start) / size_of::<Value>();
            if bit < 64 {
                outgoing.bits |= 1 << bit;
                return;
            }
        } else if is_fast_owner(domain, pool) {
            push(pool, root);
            (*pool).countdown -= 1;
            if (*pool).countdown == 0 {
                bindings::bxr_domain_refile(pool);
            }
            return;
        }
        bindings::bxr_delete_slow(Some(root));
    }
}

/// [`boxroot_modify`](crate::boxroot_modify), in a few instructions if `*root` is young, or `value`
/// is old (on OCaml 4, an immediate).
///
/// # Safety
///
/// This thread holds the lock of `domain`, no root scan of it is running, `*root` is live and
/// nobody else uses it, and `value` is a valid OCaml value.
#[inline(always)]
pub unsafe fn modify(domain: Domain, root: &mut BoxRoot, value: Value) -> bool {
    let pool = pool_of(*root);
    // SAFETY: a live root's pool is mapped; the owner may store any value in a young pool, and
    // an old one or an immediate in any. The lock is held.
    unsafe {
        if is_fast_owner(domain, pool)
            && ((*pool).epoch == (*domain.0.as_ptr()).epoch || !may_be_young(value))
        {
            *slot(*root) = value;
            return true;
        }
        let Some(changed) = bindings::bxr_modify_slow(Some(*root), value) else {
            return false;
        };
        *root = changed;
        true
    }
}

/// Never false for a value of a minor heap.
///
/// # Safety
///
/// A domain's lock is held.
#[inline(always)]
unsafe fn may_be_young(value: Value) -> bool {
    #[cfg(ocaml5)]
    {
        extern "C" {
            static mut caml_minor_heaps_start: usize;
            static mut caml_minor_heaps_end: usize;
        }
        // SAFETY: they change while the world is stopped, when nobody else holds a lock.
        let (start, end) = unsafe { (caml_minor_heaps_start, caml_minor_heaps_end) };
        (value as usize).wrapping_sub(start) < end - start
    }
    #[cfg(not(ocaml5))]
    {
        value & 1 == 0
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
    with_exposed_provenance_mut(root.0.as_ptr().expose_provenance() & !(POOL_SIZE - 1))
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
