use crate::bindings::{self, bxr_pool_head};
use crate::token::Domain;
use crate::{slot, slow, BoxRoot, Value};
use core::ptr::{addr_of_mut, with_exposed_provenance_mut, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

const NO_SLOT: usize = 1;
const POOL_SIZE: usize = 1 << bindings::BXR_POOL_LOG;
const HEAD_OFFSETS: usize = bindings::BXR_HEAD_OFFSETS as usize;

/// [`boxroot_create`](crate::boxroot_create) without its checks.
///
/// # Safety
///
/// This thread holds the lock of `domain`, no root scan of it is running, and `value` is a
/// valid OCaml value.
#[inline(always)]
pub unsafe fn create(domain: Domain, value: Value) -> Option<BoxRoot> {
    // SAFETY: the lock is held (caller), and only its holder uses this free list and writes
    // to the slots. A list is a link, the address of its first slot plus 1, or NO_SLOT. Each slot holds the rest.
    unsafe {
        let domain = domain.0.as_ptr();
        let first = (*domain).free;
        if first == NO_SLOT {
            return slow::create(value);
        }
        let root = BoxRoot(NonNull::new_unchecked(with_exposed_provenance_mut(first - 1)));
        (*domain).free = *slot(root) as usize;
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
    // SAFETY: the lock of `domain` is held, and `root` is live and not used again (caller).
    unsafe {
        if !delete_uncounted(domain, root) {
            delete_elsewhere(domain, root);
        }
    }
}

/// [`delete`], of which only the path for most young roots is inlined. What drops a root stays small, so that
/// compilers inline that, too.
///
/// # Safety
///
/// As for [`delete`].
#[cfg(inlined_thread_locals)]
#[inline(always)]
pub unsafe fn delete_small(domain: Domain, root: BoxRoot) {
    #[inline(never)]
    unsafe fn call(domain: Domain, root: BoxRoot) {
        // SAFETY: the lock of `domain` is held, and `root` is live and not used again (caller).
        unsafe { delete_elsewhere(domain, root) }
    }
    // SAFETY: the lock of `domain` is held, and `root` is live and not used again (caller).
    unsafe {
        if !delete_uncounted(domain, root) {
            call(domain, root);
        }
    }
}

/// Deletes the root if deletes in its pool are not counted.
///
/// # Safety
///
/// As for [`delete`], if the result is true.
#[inline(always)]
unsafe fn delete_uncounted(domain: Domain, root: BoxRoot) -> bool {
    let start = start_of(root);
    // SAFETY: the lock is held (caller): under it the owner may free slots of its own pools.
    unsafe {
        let domain = domain.0.as_ptr();
        let uncounted = start == (*domain).uncounted;
        if uncounted {
            push(&mut (*domain).free, root);
        }
        uncounted
    }
}

/// [`delete`] in any other pool.
///
/// # Safety
///
/// As for [`delete`].
#[inline(always)]
unsafe fn delete_elsewhere(domain: Domain, root: BoxRoot) {
    let pool = pool_at(start_of(root));
    // SAFETY: a live root's pool is mapped. The lock is held (caller): under it the owner may free slots of its
    // own pools, and only its holder writes `outgoing`. On OCaml 4 (`plain`), threads without the lock come here
    // with the record that has no pools, all of them at once: they only read, because no batch was begun there.
    unsafe {
        if is_fast_owner(domain, pool) {
            push(&mut (*pool).free, root);
            (*pool).countdown -= 1;
            if (*pool).countdown == 0 {
                bindings::bxr_domain_refile(pool);
            }
            return;
        }
        unlikely();
        // Deletes of neighbouring roots of other domains are collected.
        let outgoing = &raw mut (*domain.0.as_ptr()).outgoing;
        let bit = slot(root).addr().wrapping_sub((*outgoing).start) / size_of::<Value>();
        if bit < 64 {
            (*outgoing).bits |= 1 << bit;
        } else {
            slow::delete(root);
        }
    }
}

/// [`boxroot_modify`](crate::boxroot_modify), in a few instructions if `*root` is young, or `value`
/// is old (on OCaml 4, an immediate).
///
/// # Safety
///
/// This thread holds the lock of `domain`, no root scan of it is running, `*root` is live and
/// no other thread uses it, and `value` is a valid OCaml value.
#[inline(always)]
pub unsafe fn modify(domain: Domain, root: &mut BoxRoot, value: Value) -> bool {
    let start = start_of(*root);
    let pool = pool_at(start);
    // SAFETY: a live root's pool is mapped. The lock is held (caller): under it the owner may store any value in a
    // young pool, and an old value or an immediate in every pool whose fast paths are open.
    unsafe {
        if start == (*domain.0.as_ptr()).uncounted
            || is_fast_owner(domain, pool)
                && (!may_be_young(value) || (*pool).epoch == (*domain.0.as_ptr()).epoch)
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

/// Whether the value may be a block of a minor heap. True for all of these, and for some other values.
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
        // SAFETY: the runtime changes these variables only while all domains are stopped, and this thread's
        // domain is not: its lock is held (caller).
        let (start, end) = unsafe { (caml_minor_heaps_start, caml_minor_heaps_end) };
        // In this order: most old values have lower addresses than the minor heaps.
        start <= value as usize && (value as usize) < end
    }
    #[cfg(not(ocaml5))]
    {
        value & 1 == 0
    }
}

/// Puts a root's slot on a free list.
///
/// # Safety
///
/// The free list is for slots of the root's pool; the lock of the domain that owns it is held.
#[inline(always)]
unsafe fn push(free: &mut usize, root: BoxRoot) {
    // SAFETY: the owner may write slots, under its lock (caller).
    unsafe { *slot(root) = *free as Value };
    *free = slot(root).expose_provenance() + 1;
}

/// The start of the root's pool: pools are aligned to their size.
#[inline(always)]
fn start_of(root: BoxRoot) -> usize {
    root.0.as_ptr().expose_provenance() & !(POOL_SIZE - 1)
}

/// The head of the pool that starts here: its offset varies with the address.
#[inline(always)]
fn pool_at(start: usize) -> *mut bxr_pool_head {
    let offset = start >> bindings::BXR_HEAD_SHIFT & HEAD_OFFSETS;
    with_exposed_provenance_mut(start | offset)
}

/// Whether the fast paths of `pool` are open to `domain`.
///
/// # Safety
///
/// `pool` is the pool of a live root.
#[inline(always)]
unsafe fn is_fast_owner(domain: Domain, pool: *mut bxr_pool_head) -> bool {
    // SAFETY: the pool is mapped, because the root is live (caller). The load is atomic, because another domain
    // that owns the pool may be changing the field.
    let owner = unsafe { AtomicPtr::from_ptr(addr_of_mut!((*pool).fast_owner)) };
    owner.load(Ordering::Relaxed) == domain.0.as_ptr()
}

/// Compilers put a branch that calls this behind the other one.
#[cold]
#[inline]
fn unlikely() {}
