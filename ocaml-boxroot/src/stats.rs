use crate::DomainLock;
use ocaml_boxroot_sys as sys;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;
use std::{fmt, io};

/// Statistics of the allocator, from [`stats`]. If the calling thread holds the lock, the counts of
/// roots and of pools by state are exact for its domain. For every other domain they are those of
/// its last major root scan. Roots that another domain dropped may count as live until the owning
/// domain's next minor collection. After the runtime was shut down, all counts are exact, unless an
/// `at_exit` function left a domain running.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::debug::stats;
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let now = stats();
/// assert_eq!(now.live_roots, 0);
/// assert!(now.is_exact); // under the lock
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Whether the counts are exact, at least for the calling thread's domain. If the thread does
    /// not hold the lock, they are not: the counts of each domain are those of its last major root
    /// scan or, before the first one, of its first, second, fourth, eighth … minor root scan.
    pub is_exact: bool,
    /// Roots created and not yet deleted.
    pub live_roots: usize,
    /// All pools in memory.
    pub pools: usize,
    /// Pools that domains are allocating from, at most two for each domain.
    pub pools_current: usize,
    /// Pools with too few free slots to allocate from.
    pub pools_full: usize,
    /// Pools with enough free slots to allocate from.
    pub pools_partial: usize,
    /// Pools that hold no root, kept for re-use.
    pub pools_empty: usize,
    /// The memory of all pools, in bytes.
    pub bytes: usize,
    /// How many roots one pool can hold.
    pub slots_per_pool: usize,
    /// Domains that own pools. A domain that has ended counts until another domain takes over its
    /// pools.
    pub domains: usize,
    /// Root scans for minor collections.
    pub minor_scans: u64,
    /// Root scans to mark, verify or compact the major heap.
    pub major_scans: u64,
    /// The longest root scan of a minor collection, in any domain.
    pub longest_minor_scan: Duration,
    /// The longest root scan of a major collection, in any domain: the pause that roots cause.
    pub longest_major_scan: Duration,
    /// Deletes that were carried out later: those outside of the owning domain, those inside a root
    /// scan, and those that `barrier_hits` counts.
    pub deferred_deletes: u64,
    /// Deletes and changes of roots that had to wait until the collector had marked the root's
    /// value.
    pub barrier_hits: u64,
    /// Pools taken over from domains that ended.
    pub pools_adopted: u64,
    /// Deletes whose slots cannot be reused yet, because the owning domain has not carried them
    /// out, or the collector must first mark the value. They keep pools in use, and do not count as
    /// `live_roots`. If this number grows without end, the owning domain runs no collections.
    pub waiting_deletes: usize,
}

/// Statistics of the allocator. Any thread may call this at any time; see [`Stats::is_exact`].
#[doc(alias("boxroot_stats", "boxroot_print_stats"))]
pub fn stats() -> Stats {
    let gone = sys::uses::is_gone();
    // SAFETY: the token proves that the lock of its domain is held and that no root scan is
    // running.
    let under_lock = DomainLock::read_if_held(|lock| unsafe { sys::token::stats(lock.domain()) });
    let is_exact = gone || under_lock.is_some();
    let s = under_lock.unwrap_or_else(sys::boxroot_stats);
    Stats {
        is_exact,
        live_roots: s.live_roots,
        pools: s.pools,
        pools_current: s.pools_current,
        pools_full: s.pools_full,
        pools_partial: s.pools_partial,
        pools_empty: s.pools_empty,
        bytes: s.bytes,
        slots_per_pool: s.slots_per_pool,
        domains: s.domains,
        minor_scans: s.minor_scans,
        major_scans: s.major_scans,
        longest_minor_scan: Duration::from_nanos(s.longest_minor_scan),
        longest_major_scan: Duration::from_nanos(s.longest_major_scan),
        deferred_deletes: s.deferred_deletes,
        barrier_hits: s.barrier_hits,
        pools_adopted: s.pools_adopted,
        waiting_deletes: s.waiting_deletes,
    }
}

/// Gives the memory of the empty pools of this thread's domain back to the system, and returns its
/// size in bytes. Memory is also given back gradually without this call. Empty pools that the
/// collector may still be visiting are kept until the next major collection starts.
#[doc(alias = "boxroot_trim")]
pub fn trim(lock: &DomainLock) -> usize {
    // SAFETY: the token proves that the lock of its domain is held and that no root scan is
    // running.
    unsafe { sys::token::trim(lock.domain()) }
}

/// Starts a profile of live roots: from now on, one new root in `rate`, chosen at random, records
/// the call stack that created it, until the root is dropped. A rate of 0 turns the profile off. At
/// a rate of 1000 the cost is so low that the profile can stay on. The environment variable
/// `BOXROOT_PROFILE` sets the rate from the start. Any thread may call this; each domain applies
/// the rate at its next minor collection at the latest. The guide explains how to read a profile
/// (`docs/guide/debugging.md`).
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::debug::{profile, write_profile};
/// use ocaml_boxroot::{Boxroot, Value};
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// profile(1); // all roots; use 1000 in a long-running program
/// let _root = Boxroot::new(lock, Value::int(7));
/// write_profile(std::io::stderr(), 0)?;
/// # Ok(()) });
/// ```
#[doc(alias("boxroot_profile", "leak"))]
pub fn profile(rate: u32) {
    sys::boxroot_profile(rate);
}

/// Writes the profile to a file: the call stacks that created live roots, with the number of roots
/// of each. Roots younger than `age` major collections are left out. Any thread may call this at
/// any time.
///
/// # Errors
///
/// Those of writing to the file, and [`ErrorKind::ResourceBusy`](io::ErrorKind::ResourceBusy) if
/// another thread is writing the profile.
#[doc(alias("boxroot_profile_write", "leak"))]
pub fn write_profile(file: impl AsFd, age: u32) -> io::Result<()> {
    let file = file.as_fd();
    // SAFETY: the file is open as long as it is borrowed.
    let written = unsafe { sys::boxroot_profile_write(file.as_raw_fd(), age) };
    if written {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} live roots{} in {} pools, {} KiB ({} current, {} full, {} partial, {} empty); \
             {} minor scans, at most {:?}; {} major scans, at most {:?}; {} deferred deletes, {} waiting",
            self.live_roots,
            if self.is_exact { "" } else { " when they were last counted" },
            self.pools,
            self.bytes / 1024,
            self.pools_current,
            self.pools_full,
            self.pools_partial,
            self.pools_empty,
            self.minor_scans,
            self.longest_minor_scan,
            self.major_scans,
            self.longest_major_scan,
            self.deferred_deletes,
            self.waiting_deletes,
        )
    }
}
