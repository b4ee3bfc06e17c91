//! The fast paths of `boxroot/inline.h`, in Rust. Each call looks at who holds the lock, and then takes the fast
//! path of [`token`]. For this it reads thread-local variables of C, as C compilers do in the initial-exec model
//! (`boxroot/lock.h`). Stable Rust cannot name such variables, so this is assembly.

use crate::bindings::{self, bxr_domain_head};
use crate::token::{self, Domain};
use crate::{slow, BoxRoot, Value};
use core::arch::asm;
use core::ptr::NonNull;

/// The value of a thread-local pointer of C. The pointers that are read here change only in function calls. A
/// variable's offset from the thread pointer is the same for all threads, so that loops read it once.
macro_rules! thread_local_pointer {
    ($name:literal) => {{
        let offset: usize;
        let value: *mut bxr_domain_head;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the variable exists in every program that links the library. The linker or the dynamic
        // linker has stored its offset from the thread pointer where the first instruction reads it.
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
        // SAFETY: the same as on x86-64.
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

/// The record that a thread-local variable points to.
#[inline(always)]
fn domain(record: *mut bxr_domain_head) -> Domain {
    // SAFETY: the variables are never NULL: on a thread without a domain they point to `bxr_no_domain`.
    Domain(unsafe { NonNull::new_unchecked(record) })
}

/// The record of this thread's domain, if the thread holds the lock and no root scan is running.
#[cfg(ocaml5)]
#[inline(always)]
fn to_create() -> Option<Domain> {
    use core::sync::atomic::{AtomicPtr, Ordering};
    // Without the lock this is NULL, and no record's `runtime_state` is NULL.
    let witness = thread_local_pointer!("caml_state");
    let record = thread_local_pointer!("bxr_self_abi2_pool14");
    // SAFETY: the variable is never NULL, and records are never unmapped. The load is atomic, because another
    // thread that holds the record's lock may be changing the field.
    let state = unsafe { AtomicPtr::from_ptr(&raw mut (*record).runtime_state) };
    (state.load(Ordering::Relaxed) == witness.cast()).then(|| domain(record))
}

#[cfg(ocaml5)]
use to_create as to_delete;

/// The record of the only domain, if this thread holds the lock and no root scan is running; else a record
/// that has no pools. A thread that `Thread.create` made seems to hold the lock in its thread-local
/// destructors, and this function believes it.
#[cfg(not(ocaml5))]
#[inline(always)]
fn to_create() -> Option<Domain> {
    Some(domain(thread_local_pointer!("bxr_self_abi2_pool14")))
}

/// The same, on the main thread only; the slow paths ask more.
#[cfg(not(ocaml5))]
#[inline(always)]
fn to_delete() -> Option<Domain> {
    Some(domain(thread_local_pointer!("bxr_owner_abi2_pool14")))
}

/// # Safety
///
/// As for [`boxroot_create`](crate::boxroot_create).
#[inline(always)]
pub unsafe fn boxroot_create(init: Value) -> Option<BoxRoot> {
    // SAFETY: the record is open to this thread, or its current pool has no free slot, so that the slow path
    // decides; the value is valid (caller).
    unsafe {
        match to_create() {
            Some(domain) => token::create(domain, init),
            None => slow::create(init),
        }
    }
}

/// # Safety
///
/// As for [`boxroot_delete`](crate::boxroot_delete), of a root that is not `None`.
#[inline(always)]
pub unsafe fn boxroot_delete(root: BoxRoot) {
    // SAFETY: the record is open to this thread, or owns no pool, so that the slow path decides; the root is
    // live, and not used again (caller).
    unsafe {
        match to_delete() {
            Some(domain) => token::delete_small(domain, root),
            None => slow::delete(root),
        }
    }
}

/// # Safety
///
/// As for [`boxroot_modify`](crate::boxroot_modify).
#[inline(always)]
pub unsafe fn boxroot_modify(root: *mut BoxRoot, value: Value) -> bool {
    // SAFETY: the record is open to this thread, or owns no pool, so that the slow path decides; no other
    // thread uses the root, and the value is valid (caller).
    unsafe {
        match to_delete() {
            Some(domain) => token::modify(domain, &mut *root, value),
            // `BoxRoot` and a `boxroot` that is not NULL have the same representation.
            None => bindings::boxroot_modify(root.cast(), value),
        }
    }
}
