//! The operations on roots with the feature `debug-checks`. They are those of the C library's
//! checked flavour (`vendor/src/check.c`), which this feature compiles. A handle is the address of
//! a record, which says where the root was created and deleted. Misuse panics with a message that
//! names these places. Roots of C code in the same program also have records.

extern crate std;

use crate::{BoxRoot, Value, ValueCell};
use core::ffi::{c_char, c_void, CStr};
use core::fmt;
use core::mem::MaybeUninit;
use core::panic::Location;
use core::ptr::null;
use core::str;
use std::string::String;
use std::vec::Vec;

/// A place in a program that creates roots, in Rust, C or C++. With the feature `debug-checks`.
#[derive(Clone, Copy)]
#[repr(C)] // struct bxr_site
pub struct Site {
    file: *const c_char,
    line: u32,
    length: u32,
}

// SAFETY: a site points to static memory.
unsafe impl Send for Site {}
// SAFETY: a site points to static memory.
unsafe impl Sync for Site {}

const TEXT: usize = 1000; // BXR_TEXT

extern "C" {
    #[link_name = linked!("bxr_check_create_checked")]
    fn bxr_check_create(
        v: Value,
        site: Site,
        made: *mut Option<BoxRoot>,
        text: *mut c_char,
    ) -> bool;
    #[link_name = linked!("bxr_check_get_checked")]
    fn bxr_check_get(r: BoxRoot, site: Site, found: *mut Value, text: *mut c_char) -> bool;
    #[link_name = linked!("bxr_check_get_ref_checked")]
    fn bxr_check_get_ref(
        r: BoxRoot,
        site: Site,
        found: *mut *const ValueCell,
        text: *mut c_char,
    ) -> bool;
    #[link_name = linked!("bxr_check_delete_checked")]
    fn bxr_check_delete(r: BoxRoot, site: Site, text: *mut c_char) -> bool;
    #[link_name = linked!("bxr_check_modify_checked")]
    fn bxr_check_modify(
        r: *mut BoxRoot,
        v: Value,
        site: Site,
        done: *mut bool,
        text: *mut c_char,
    ) -> bool;
    #[link_name = linked!("bxr_check_leaks_checked")]
    fn bxr_check_leaks(each: extern "C" fn(*mut c_void, Site, usize), context: *mut c_void);
    #[link_name = linked!("bxr_check_name_checked")]
    fn bxr_check_name(site: Site, text: *mut c_char, size: usize);
}

impl Site {
    #[track_caller]
    fn caller() -> Site {
        let caller = Location::caller();
        let file = caller.file();
        Site { file: file.as_ptr().cast(), line: caller.line(), length: file.len() as u32 }
    }

    /// The file's name. Empty if only the address of the code is known, for instance if the program
    /// calls C's `boxroot_create` directly and not through the header's macro.
    pub fn file(&self) -> &'static str {
        // SAFETY: unless `line` is 0, `file` points to `length` bytes or, if `length` is 0, to a C
        // string. Both are static.
        let name = unsafe {
            match (self.line, self.length) {
                (0, _) => return "",
                (_, 0) => CStr::from_ptr(self.file).to_bytes(),
                (_, length) => core::slice::from_raw_parts(self.file.cast(), length as usize),
            }
        };
        str::from_utf8(name).unwrap_or("")
    }

    /// The line number, counted from 1, or 0 if only the address of the code is known.
    pub fn line(&self) -> u32 {
        self.line
    }

    fn key(&self) -> (u32, &'static str, *const c_char) {
        (self.line, self.file(), if self.line == 0 { self.file } else { null() })
    }
}

impl PartialEq for Site {
    fn eq(&self, other: &Site) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Site {}

/// `FILE:LINE`, or `PROGRAM+OFFSET`, which `addr2line` reads.
impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; TEXT];
        // SAFETY: the function writes at most `TEXT` bytes, including a final 0.
        let text = unsafe {
            bxr_check_name(*self, text.as_mut_ptr(), TEXT);
            CStr::from_ptr(text.as_ptr())
        };
        f.write_str(&text.to_string_lossy())
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Panics if `check` returns false, with the description of the mistake from `check`.
#[track_caller]
#[inline]
fn require(check: impl FnOnce(*mut c_char) -> bool) {
    let mut text = MaybeUninit::<[c_char; TEXT]>::uninit();
    if !check(text.as_mut_ptr().cast()) {
        // SAFETY: C has described the mistake in at most `TEXT` bytes, including a final 0.
        misused(unsafe { CStr::from_ptr(text.as_ptr().cast()) })
    }
}

#[track_caller]
#[cold]
fn misused(text: &CStr) -> ! {
    panic!("{}", text.to_string_lossy())
}

/// Creates a root that owns `init`. Returns `None` on failure, with `errno` set to `EPERM` if this
/// thread does not hold the lock or the library is not running, or to `ENOMEM` if memory ran out.
///
/// # Safety
///
/// `init` is a valid OCaml value. The call is not made in the finaliser of a custom block. In a
/// hook that runs inside a collection, `init` is not a block of the minor heap. On OCaml 4, the
/// call is not made in a thread-local destructor of a `Thread.create` thread: the thread does not
/// hold the lock there, and the library cannot detect that.
///
/// # Panics
///
/// If `init` is certainly not an OCaml value.
#[track_caller]
pub unsafe fn boxroot_create(init: Value) -> Option<BoxRoot> {
    let site = Site::caller();
    let mut made = None;
    // SAFETY: as promised by the caller; C stores a root or NULL.
    require(|text| unsafe { bxr_check_create(init, site, &mut made, text) });
    made
}

/// Returns the value that `root` owns.
///
/// # Safety
///
/// `root` is live and the calling thread holds the lock. The result is an unrooted value: it is
/// valid until the garbage collector may run. A hook that runs inside a collection reads only roots
/// that the calling domain created.
///
/// # Panics
///
/// If `root` is not live, or the lock is not held.
#[track_caller]
pub unsafe fn boxroot_get(root: BoxRoot) -> Value {
    let site = Site::caller();
    let mut found = 1;
    // SAFETY: as promised by the caller.
    require(|text| unsafe { bxr_check_get(root, site, &mut found, text) });
    found
}

/// Returns the address where `root` keeps its value, until the root is deleted or modified. Never
/// `NULL`. Reading through it needs the lock; writing through it is not allowed.
///
/// # Panics
///
/// If `root` is not live.
#[track_caller]
pub fn boxroot_get_ref(root: BoxRoot) -> *const ValueCell {
    let site = Site::caller();
    let mut found = null();
    // SAFETY: C reads the first word that the handle points to, which tells whether it is a root.
    require(|text| unsafe { bxr_check_get_ref(root, site, &mut found, text) });
    found
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
///
/// # Panics
///
/// If `root` is not live.
#[track_caller]
pub unsafe fn boxroot_delete(root: BoxRoot) {
    let site = Site::caller();
    // SAFETY: as promised by the caller.
    require(|text| unsafe { bxr_check_delete(root, site, text) });
}

/// Replaces the value that `*root` owns by `new_value`. Always changes `*root`, so that uses of
/// copies of the old handle are detected. Returns `false` on failure, with `errno` as for
/// [`boxroot_create`]; then the root is intact.
///
/// # Safety
///
/// `*root` is live, and no other thread uses it during the call. If it moves, copies of the old
/// handle are not used afterwards. The conditions of [`boxroot_create`] hold for `new_value` and
/// for the place of the call.
///
/// # Panics
///
/// If `*root` is not live, or `new_value` is certainly not an OCaml value.
#[track_caller]
pub unsafe fn boxroot_modify(root: *mut BoxRoot, new_value: Value) -> bool {
    let site = Site::caller();
    let mut done = false;
    // SAFETY: as promised by the caller. C stores no NULL.
    require(|text| unsafe { bxr_check_modify(root, new_value, site, &mut done, text) });
    done
}

/// The places in the program that created live roots, each with the number of these roots, the
/// largest number first. With the feature `debug-checks`.
pub fn live_roots_by_site() -> Vec<(Site, usize)> {
    extern "C" fn each(sites: *mut c_void, site: Site, live: usize) {
        // SAFETY: `sites` is the vector below, which nothing else uses during the call.
        unsafe { &mut *sites.cast::<Vec<(Site, usize)>>() }.push((site, live));
    }
    let mut sites = Vec::new();
    // SAFETY: the function calls `each` with the vector, and keeps neither.
    unsafe { bxr_check_leaks(each, (&raw mut sites).cast()) }
    sites
}

/// [`live_roots_by_site`], as text: one line for each place. Empty if there are no live roots.
pub fn leak_report() -> String {
    live_roots_by_site()
        .iter()
        .map(|&(site, live)| match live {
            1 => std::format!("boxroot: 1 live root was created at {site}\n"),
            _ => std::format!("boxroot: {live} live roots were created at {site}\n"),
        })
        .collect()
}
