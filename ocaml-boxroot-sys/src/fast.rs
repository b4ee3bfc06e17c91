//! The fast paths of `boxroot/inline.h`, in Rust. The first functions take a domain's record, which
//! a token has; the functions in `without_token` find the record themselves. `bindings.rs` and
//! `boxroot/inline.h` assert the layouts that they rely on.

use crate::bindings::{self, bxr_domain_head, bxr_pool_head};
use crate::{slot, BoxRoot, Value};
use core::ptr::{addr_of_mut, with_exposed_provenance_mut, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

#[cfg(not(all(inlined_thread_locals, ocaml5)))]
pub use crate::bindings::bxr_domain_reenter as reenter;
/// On OCaml 5, only a call of C can tell.
#[cfg(not(all(inlined_thread_locals, ocaml5)))]
#[inline(always)]
pub unsafe fn is_on_own_stack() -> bool {
    cfg!(not(ocaml5))
}
/// Only a call of C can tell.
#[cfg(not(all(inlined_thread_locals, ocaml5)))]
#[inline(always)]
pub fn attached() -> Option<*mut bxr_domain_head> {
    None
}
#[cfg(inlined_thread_locals)]
pub use without_token::{boxroot_create, boxroot_delete, boxroot_modify};
#[cfg(all(inlined_thread_locals, ocaml5))]
pub use without_token::{is_on_own_stack, reenter, to_create as attached};

const NO_SLOT: usize = 1;
const POOL_SIZE: usize = 1 << bindings::BXR_POOL_LOG;
const HEAD_OFFSETS: usize = bindings::BXR_HEAD_OFFSETS as usize;

/// # Safety
///
/// As for [`token::create`](crate::token::create), with the record of the domain.
#[inline(always)]
pub unsafe fn create(domain: *mut bxr_domain_head, value: Value) -> Option<BoxRoot> {
    // SAFETY: the lock is held (caller), and only its holder uses this free list and writes to the
    // slots. A list is NO_SLOT, or the address of its first slot plus 1. Each slot holds the rest
    // of the list.
    unsafe {
        let first = (*domain).free;
        if first == NO_SLOT {
            return create_slow(value);
        }
        let root = BoxRoot(NonNull::new_unchecked(with_exposed_provenance_mut(first - 1)));
        (*domain).free = *slot(root) as usize;
        *slot(root) = value;
        Some(root)
    }
}

/// # Safety
///
/// As for [`token::delete`](crate::token::delete), with the record of the domain.
#[inline(always)]
pub unsafe fn delete(domain: *mut bxr_domain_head, root: BoxRoot) {
    // SAFETY: the lock of `domain` is held, and `root` is live and not used again (caller).
    unsafe {
        if !delete_uncounted(domain, root) {
            delete_elsewhere(domain, root);
        }
    }
}

/// Like [`delete`], but only the path for most young roots is inlined. So functions that drop a
/// root stay small enough for compilers to inline them.
///
/// # Safety
///
/// As for [`delete`].
#[cfg(inlined_thread_locals)]
#[inline(always)]
unsafe fn delete_small(domain: *mut bxr_domain_head, root: BoxRoot) {
    #[inline(never)]
    unsafe fn call(domain: *mut bxr_domain_head, root: BoxRoot) {
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
unsafe fn delete_uncounted(domain: *mut bxr_domain_head, root: BoxRoot) -> bool {
    let start = start_of(root);
    // SAFETY: the lock is held (caller), so the owner may free slots of its own pools.
    unsafe {
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
unsafe fn delete_elsewhere(domain: *mut bxr_domain_head, root: BoxRoot) {
    let pool = pool_at(start_of(root));
    // SAFETY: a live root's pool is mapped. The lock is held (caller), so the owner may free slots
    // of its own pools, and only the holder of the lock writes `outgoing`. On OCaml 4, several
    // threads without a token and without the lock may get here at once, with the record that has
    // no pools. They only read, because that record never begins a batch.
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
        // Deletes of neighbouring roots of other domains are collected in one batch.
        let outgoing = &raw mut (*domain).outgoing;
        let bit = slot(root).addr().wrapping_sub((*outgoing).start) / size_of::<Value>();
        if bit < 64 {
            (*outgoing).bits |= 1 << bit;
        } else {
            delete_slow(root);
        }
    }
}

/// # Safety
///
/// As for [`token::modify`](crate::token::modify), with the record of the domain.
#[inline(always)]
pub unsafe fn modify(domain: *mut bxr_domain_head, root: &mut BoxRoot, value: Value) -> bool {
    let start = start_of(*root);
    let pool = pool_at(start);
    // SAFETY: a live root's pool is mapped. The lock is held (caller), so the owner may store any
    // value in a young pool, and an old value or an immediate in every pool whose fast paths are
    // open.
    unsafe {
        if start == (*domain).uncounted
            || is_fast_owner(domain, pool) && (!may_be_young(value) || (*pool).young)
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

/// Whether the value may be a block of a minor heap. True for all such blocks, and for some other
/// values.
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
        // SAFETY: the runtime changes these variables only while all domains are stopped. This
        // thread's domain is not stopped, because its lock is held (caller).
        let (start, end) = unsafe { (caml_minor_heaps_start, caml_minor_heaps_end) };
        // The lower bound comes first, because most old values have lower addresses than the minor
        // heaps.
        start <= value as usize && (value as usize) < end
    }
    #[cfg(not(ocaml5))]
    {
        value & 1 == 0
    }
}

/// Adds a root's slot to a free list.
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

/// The start of the root's pool. Pools are aligned to their size.
#[inline(always)]
fn start_of(root: BoxRoot) -> usize {
    root.0.as_ptr().expose_provenance() & !(POOL_SIZE - 1)
}

/// The head of the pool with this start address. The head's offset depends on the address.
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
unsafe fn is_fast_owner(domain: *mut bxr_domain_head, pool: *mut bxr_pool_head) -> bool {
    // SAFETY: the pool is mapped, because the root is live (caller). The load is atomic, because
    // another domain that owns the pool may be changing the field.
    let owner = unsafe { AtomicPtr::from_ptr(addr_of_mut!((*pool).fast_owner)) };
    owner.load(Ordering::Relaxed) == domain
}

/// Call this in an unlikely branch: compilers then put the branch's code after that of the likely
/// branch.
#[cold]
#[inline]
fn unlikely() {}

/// The general path of create, in C. The attribute `cold` makes compilers lay out the fast path as
/// straight-line code.
///
/// # Safety
///
/// As for [`boxroot_create`](crate::boxroot_create).
#[cold]
unsafe fn create_slow(value: Value) -> Option<BoxRoot> {
    // SAFETY: as promised by the caller.
    unsafe { bindings::bxr_create_slow(value) }
}

/// The general path of delete, in C.
///
/// # Safety
///
/// As for [`boxroot_delete`](crate::boxroot_delete).
#[cold]
unsafe fn delete_slow(root: BoxRoot) {
    // SAFETY: as promised by the caller.
    unsafe { bindings::bxr_delete_slow(Some(root)) }
}

/// The operations without a token. Each call checks whether this thread holds the lock, and then
/// takes the fast path above. For this it reads thread-local variables of C, as C compilers do in
/// the initial-exec model (`boxroot/lock.h`). Stable Rust cannot name such variables, so assembly
/// reads them.
#[cfg(inlined_thread_locals)]
mod without_token {
    use super::*;
    use core::arch::asm;

    /// The value of a thread-local C variable of the size of a pointer. The variables that are read
    /// here change only in function calls. A variable's offset from the thread pointer is the same
    /// for all threads, so loops read it once.
    macro_rules! thread_local_pointer {
        ($name:expr) => {{
            let offset: usize;
            let value: *mut bxr_domain_head;
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the variable exists in every program that links the library. The linker or
            // the dynamic linker has stored the variable's offset (from the thread pointer), which
            // the first instruction reads.
            unsafe {
                asm!(
                    concat!("mov {}, qword ptr [rip + ", $name, "@GOTTPOFF]"),
                    out(reg) offset,
                    options(pure, nomem, nostack, preserves_flags),
                );
                asm!(
                    "mov {}, qword ptr fs:[{}]",
                    out(reg) value,
                    in(reg) offset,
                    options(pure, readonly, nostack, preserves_flags),
                );
            }
            #[cfg(target_arch = "aarch64")]
            // SAFETY: as on x86-64.
            unsafe {
                asm!(
                    concat!("adrp {0}, :gottprel:", $name),
                    concat!("ldr {0}, [{0}, :gottprel_lo12:", $name, "]"),
                    out(reg) offset,
                    options(pure, nomem, nostack, preserves_flags),
                );
                asm!(
                    "mrs {0}, tpidr_el0",
                    "ldr {0}, [{0}, {1}]",
                    out(reg) value,
                    in(reg) offset,
                    options(pure, readonly, nostack, preserves_flags),
                );
            }
            value
        }};
    }

    /// The record of this thread's domain, if the thread holds the lock and no root scan is
    /// running.
    #[cfg(ocaml5)]
    #[inline(always)]
    pub fn to_create() -> Option<*mut bxr_domain_head> {
        // Without the lock this is NULL, and no record's `runtime_state` is NULL.
        let witness = thread_local_pointer!("caml_state");
        let record = thread_local_pointer!(linked!("bxr_self"));
        // SAFETY: the variable is never NULL (without a domain it points to `bxr_no_domain`), and
        // records are never unmapped. The load is atomic, because another thread that holds the
        // record's lock may be changing the field.
        let state = unsafe { AtomicPtr::from_ptr(&raw mut (*record).runtime_state) };
        (state.load(Ordering::Relaxed) == witness.cast()).then_some(record)
    }

    #[cfg(ocaml5)]
    use to_create as to_delete;

    /// The record of the only domain, if this thread holds the lock and no root scan is running;
    /// otherwise a record without pools. In the thread-local destructors of a `Thread.create`
    /// thread, this function wrongly assumes that the thread holds the lock.
    #[cfg(not(ocaml5))]
    #[inline(always)]
    fn to_create() -> Option<*mut bxr_domain_head> {
        Some(thread_local_pointer!(linked!("bxr_self")))
    }

    /// Like `to_create`, but only on the main thread: on other threads, the slow paths decide.
    #[cfg(not(ocaml5))]
    #[inline(always)]
    fn to_delete() -> Option<*mut bxr_domain_head> {
        Some(thread_local_pointer!(linked!("bxr_owner")))
    }

    /// # Safety
    ///
    /// As for [`token::reenter`](crate::token::reenter).
    #[cfg(ocaml5)]
    #[inline(always)]
    pub unsafe fn reenter() -> *mut bxr_domain_head {
        use core::ptr;
        if thread_local_pointer!(linked!("bxr_own_uses")).addr() as isize <= 0 {
            return ptr::null_mut();
        }
        let state = thread_local_pointer!("caml_state").cast::<u8>();
        let record = thread_local_pointer!(linked!("bxr_self"));
        // SAFETY: as in `to_create`. If this thread may use the record, `state` is the state of its
        // domain. OCaml called this thread's code (caller).
        unsafe {
            let its_state = AtomicPtr::from_ptr(&raw mut (*record).runtime_state);
            if its_state.load(Ordering::Relaxed) != state.cast() {
                return ptr::null_mut();
            }
            match is_own_stack_of(state) {
                true => record,
                false => ptr::null_mut(),
            }
        }
    }

    /// # Safety
    ///
    /// As for [`token::is_on_own_stack`](crate::token::is_on_own_stack).
    #[cfg(ocaml5)]
    #[inline(always)]
    pub unsafe fn is_on_own_stack() -> bool {
        let state = thread_local_pointer!("caml_state").cast();
        // SAFETY: the thread holds the lock, so this is the state of its domain. OCaml called this
        // thread's code (caller).
        unsafe { is_own_stack_of(state) }
    }

    /// # Safety
    ///
    /// `state` is the state of this thread's domain, and OCaml has called this thread's code.
    #[cfg(ocaml5)]
    #[inline(always)]
    unsafe fn is_own_stack_of(state: *const u8) -> bool {
        // SAFETY: the thread runs on the domain's current stack, in a function that OCaml has
        // called (caller). `runtime_ocaml5.c` asserts the offsets. The third word of a stack points
        // to its handler, whose first word is an immediate for the initial stack of a thread.
        unsafe {
            let current = state.add(crate::layout::CURRENT_STACK);
            let stack = *current.cast::<*const *const Value>();
            let for_result: Value = **stack.add(2);
            for_result & 1 == 1
        }
    }

    /// # Safety
    ///
    /// As for [`boxroot_create`](crate::boxroot_create).
    #[inline(always)]
    pub unsafe fn boxroot_create(init: Value) -> Option<BoxRoot> {
        // SAFETY: if this thread may not use the record, its current pool has no free slot, so the
        // slow path decides. The value is valid (caller).
        unsafe {
            match to_create() {
                Some(domain) => create(domain, init),
                None => create_slow(init),
            }
        }
    }

    /// # Safety
    ///
    /// As for [`boxroot_delete`](crate::boxroot_delete), of a root that is not `None`.
    #[inline(always)]
    pub unsafe fn boxroot_delete(root: BoxRoot) {
        // SAFETY: if this thread may not use the record, the record owns no pool, so the slow path
        // decides. The root is live, and not used again (caller).
        unsafe {
            match to_delete() {
                Some(domain) => delete_small(domain, root),
                None => delete_slow(root),
            }
        }
    }

    /// # Safety
    ///
    /// As for [`boxroot_modify`](crate::boxroot_modify).
    #[inline(always)]
    pub unsafe fn boxroot_modify(root: *mut BoxRoot, value: Value) -> bool {
        // SAFETY: if this thread may not use the record, the record owns no pool, so the slow path
        // decides. No other thread uses the root, and the value is valid (caller).
        unsafe {
            match to_delete() {
                Some(domain) => modify(domain, &mut *root, value),
                // `BoxRoot` has the representation of a C `boxroot` that is not NULL.
                None => bindings::boxroot_modify(root.cast(), value),
            }
        }
    }
}
