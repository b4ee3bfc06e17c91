//! The operations on roots under the feature `debug-checks`: each root is on record, with the place
//! in the program that created it, and every misuse panics with a message that names that place.
//!
//! A handle is the address of a slot, which the allocator uses again after a delete. So the slot of a deleted
//! root is kept aside for a while: otherwise a stale handle would pass for the new root in that slot. Roots
//! that C code creates are not on record, and roots that C code deletes stay on record.

extern crate std;

use crate::{bindings, lock_state, slot, status, BoxRoot, LockState, Status, Value, ValueCell};
use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::panic::Location;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::string::String;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::vec::Vec;

type Site = &'static Location<'static>;

/// How many deleted roots are remembered, and at most how many slots are kept aside.
const REMEMBERED: usize = 4096;

#[derive(Clone, Copy)]
struct Record {
    created: Site,
    deleted: Option<Site>,
}

#[derive(Default)]
struct Records {
    /// By handle: all live roots, and the deleted ones in `deleted`.
    records: HashMap<usize, Record>,
    /// The handles deleted last, the oldest first.
    deleted: VecDeque<usize>,
    /// Slots of deleted roots that `boxroot_create` offered again. They hold `()`.
    aside: Vec<Aside>,
}

struct Aside(BoxRoot);

// SAFETY: a root may be deleted on any thread, and no other operation is done on these.
unsafe impl Send for Aside {}

static RECORDS: Mutex<Option<Records>> = Mutex::new(None);

/// Runs `f` on the records. `f` does not panic: a misuse is reported after the mutex is released.
fn with<R>(f: impl FnOnce(&mut Records) -> R) -> R {
    static ONCE: Once = Once::new();
    // SAFETY: the handlers lock and unlock one mutex, in pairs, and are never unloaded.
    ONCE.call_once(|| unsafe { _ = pthread_atfork(before_fork, after_fork, after_fork) });
    f(lock_records().get_or_insert_with(Records::default))
}

fn lock_records() -> MutexGuard<'static, Option<Records>> {
    RECORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" {
    fn pthread_atfork(
        before: extern "C" fn(),
        parent: extern "C" fn(),
        child: extern "C" fn(),
    ) -> c_int;
}

/// The guard of `RECORDS` while the process forks: so no other thread holds the mutex then, and the child can
/// unlock it.
struct OverFork(UnsafeCell<Option<MutexGuard<'static, Option<Records>>>>);

// SAFETY: only the thread that holds the mutex uses the cell (`before_fork`, `after_fork`).
unsafe impl Sync for OverFork {}

static OVER_FORK: OverFork = OverFork(UnsafeCell::new(None));

extern "C" fn before_fork() {
    let guard = lock_records();
    // SAFETY: this thread holds the mutex, so no other one uses the cell.
    unsafe { *OVER_FORK.0.get() = Some(guard) }
}

extern "C" fn after_fork() {
    // SAFETY: this thread has held the mutex since `before_fork`, so no other one uses the cell.
    let guard = unsafe { (*OVER_FORK.0.get()).take() };
    drop(guard);
}

fn handle(root: BoxRoot) -> usize {
    slot(root) as usize
}

/// Panics unless `root` is a live root on record.
#[track_caller]
fn require_live(root: BoxRoot, operation: &str) {
    match with(|records| records.records.get(&handle(root)).copied()) {
        Some(Record { deleted: None, .. }) => {}
        Some(record) => report_deleted(root, operation, record),
        None => panic!("boxroot: {operation} of {root:?}, which is not a root"),
    }
}

#[track_caller]
#[cold]
fn report_deleted(root: BoxRoot, operation: &str, record: Record) -> ! {
    let Record { created, deleted } = record;
    match deleted {
        Some(deleted) => panic!(
            "boxroot: {operation} of {root:?}, which was created at {created} and deleted at {deleted}"
        ),
        None => panic!("boxroot: {operation} of {root:?}, which was created at {created}"),
    }
}

/// Panics if this thread certainly does not hold the lock of a running runtime.
#[track_caller]
fn require_lock(operation: &str) {
    if status() == Status::Running && matches!(lock_state(), LockState::NotHeld | LockState::Ended)
    {
        panic!("boxroot: {operation} on a thread that does not hold the OCaml lock");
    }
}

/// A new root that owns `init`. `None` on failure: with `errno` `EPERM` if this thread does not hold the lock or
/// the library is not running, and `ENOMEM` if memory ran out.
///
/// # Safety
///
/// `init` is a valid OCaml value. This is not the finaliser of a custom block. In a hook that runs inside a
/// collection, `init` is not a block of the minor heap. On OCaml 4, this is not a thread-local destructor of a
/// thread that `Thread.create` made: it does not hold the lock, which cannot be detected.
#[track_caller]
pub unsafe fn boxroot_create(init: Value) -> Option<BoxRoot> {
    let created = Location::caller();
    loop {
        // SAFETY: as promised by the caller; the function checks everything else.
        let mut root = unsafe { bindings::boxroot_create(init) }?;
        let is_fresh = with(|records| {
            let known = records.records.get(&handle(root));
            // If the slot's last root is on record as live, C code has deleted it.
            let is_fresh = !matches!(known, Some(Record { deleted: Some(_), .. }));
            if is_fresh {
                records.records.insert(handle(root), Record { created, deleted: None });
            }
            is_fresh
        });
        if is_fresh {
            return Some(root);
        }
        const UNIT: Value = 1;
        let offered = handle(root);
        // SAFETY: the root is live, only this function has its handle, and the lock is held, because the create
        // succeeded. The root moves only if the marker may be visiting its pool; then `root` is updated.
        unsafe { bindings::boxroot_modify((&raw mut root).cast(), UNIT) };
        if handle(root) == offered {
            with(|records| records.aside.push(Aside(root)));
        } else {
            // SAFETY: the root is live, and only this function has its handle.
            unsafe { bindings::boxroot_delete(Some(root)) };
        }
    }
}

/// The value that `root` owns.
///
/// # Safety
///
/// `root` is live and the calling thread holds the lock. The result is an unrooted value: it is valid until
/// the garbage collector may run. In a hook that runs inside a collection, the calling domain created the root.
///
/// # Panics
///
/// If `root` is not live, or the lock is not held.
#[track_caller]
pub unsafe fn boxroot_get(root: BoxRoot) -> Value {
    require_live(root, "get");
    require_lock("get");
    // SAFETY: a live root's slot is readable under the lock (just checked).
    unsafe { *slot(root) }
}

/// The address where `root` keeps its value, until the root is deleted or modified. Never `NULL`. Reading through
/// it needs the lock; writing through it is not allowed.
///
/// # Panics
///
/// If `root` is not live.
#[track_caller]
pub fn boxroot_get_ref(root: BoxRoot) -> *const ValueCell {
    require_live(root, "get_ref");
    slot(root).cast()
}

/// Deletes `root`: its value is no longer kept alive. Any thread may do this at any time, with or without the
/// lock, also after the domain that created the root has ended, and after shutdown. It never fails.
///
/// # Safety
///
/// `root` is live, and neither it nor a copy of the handle is used afterwards. If the program started OCaml by
/// `caml_startup_pooled`, this is not between `caml_shutdown` and [`boxroot_teardown`](crate::boxroot_teardown): the
/// shutdown frees all memory of the runtime.
///
/// # Panics
///
/// If `root` is not live.
#[track_caller]
pub unsafe fn boxroot_delete(root: BoxRoot) {
    let deleted = Some(Location::caller());
    let (known, forgotten) = with(|records| {
        let known = records.records.get(&handle(root)).copied();
        if !matches!(known, Some(Record { deleted: None, .. })) {
            return (known, None);
        }
        records.records.entry(handle(root)).and_modify(|record| record.deleted = deleted);
        records.deleted.push_back(handle(root));
        (known, forget_oldest(records))
    });
    match known {
        Some(Record { deleted: None, .. }) => {}
        Some(record) => report_deleted(root, "second delete", record),
        None => panic!("boxroot: delete of {root:?}, which is not a root"),
    }
    // SAFETY: `root` is live (just checked), and a slot kept aside has no other user.
    unsafe {
        bindings::boxroot_delete(Some(root));
        bindings::boxroot_delete(forgotten);
    }
}

/// Forgets the oldest deleted root if more than [`REMEMBERED`] are on record. Returns the root that keeps its slot
/// aside, if there is one: the caller deletes it.
fn forget_oldest(records: &mut Records) -> Option<BoxRoot> {
    if records.deleted.len() <= REMEMBERED {
        return None;
    }
    let oldest = records.deleted.pop_front()?;
    records.records.remove(&oldest);
    let place = records.aside.iter().position(|aside| handle(aside.0) == oldest)?;
    Some(records.aside.swap_remove(place).0)
}

/// Makes `*root` own `new_value` instead of its value. May change `*root`: the root may move. `false` on failure,
/// with `errno` as for [`boxroot_create`]; the root is then intact.
///
/// # Safety
///
/// `*root` is live, and no other thread uses it meanwhile. If it moves, copies of the old handle are not used
/// afterwards. For `new_value`, and for where the call is made, as for [`boxroot_create`].
///
/// # Panics
///
/// If `*root` is not live.
#[track_caller]
pub unsafe fn boxroot_modify(root: *mut BoxRoot, new_value: Value) -> bool {
    // SAFETY: no other thread uses `*root` (caller).
    let before = unsafe { *root };
    require_live(before, "modify");
    // Always takes a new root, so that later uses of the old handle are noticed.
    // SAFETY: `new_value` is valid (caller); `before` is live (just checked).
    unsafe {
        let Some(after) = boxroot_create(new_value) else { return false };
        boxroot_delete(before);
        *root = after;
    }
    true
}

/// How many roots only keep a slot aside. The allocator's own statistics count them as live.
pub(crate) fn kept_aside() -> usize {
    with(|records| records.aside.len())
}

/// The live roots, grouped by the place in the program that created them: the most first. With the
/// feature `debug-checks`.
pub fn live_roots_by_site() -> Vec<(&'static Location<'static>, usize)> {
    let mut by_site: BTreeMap<Site, usize> = BTreeMap::new();
    with(|records| {
        for record in records.records.values().filter(|record| record.deleted.is_none()) {
            *by_site.entry(record.created).or_default() += 1;
        }
    });
    let mut sites: Vec<_> = by_site.into_iter().collect();
    sites.sort_by_key(|&(_, count)| core::cmp::Reverse(count));
    sites
}

/// [`live_roots_by_site`], as text: one line for each place. Empty if there are no live roots.
pub fn leak_report() -> String {
    live_roots_by_site()
        .iter()
        .map(|(site, count)| std::format!("boxroot: {count} live roots were created at {site}\n"))
        .collect()
}
