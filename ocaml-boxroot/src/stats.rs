use ocaml_boxroot_sys as sys;
use std::fmt;

/// What the allocator holds and did. The counts of roots and pools are exact for the calling
/// thread's domain, if it holds the lock, and as of its last major root scan for each other
/// domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Roots created and not yet deleted.
    pub live_roots: usize,
    /// Pools in memory.
    pub pools: usize,
    /// Pools with free slots, besides current and empty ones.
    pub pools_with_room: usize,
    /// Pools that hold no root, kept for re-use.
    pub pools_empty: usize,
    /// The size of one pool, in bytes.
    pub pool_bytes: usize,
    /// How many roots one pool can hold.
    pub slots_per_pool: usize,
    /// Domains that own pools.
    pub domains: usize,
    /// Root scans for minor collections.
    pub minor_scans: u64,
    /// Root scans to mark or to verify the major heap.
    pub major_scans: u64,
    /// Deletes that were deferred to the owning domain.
    pub remote_deletes: u64,
    /// Pools taken over from domains that ended.
    pub pools_adopted: u64,
}

/// Statistics of the allocator. Any thread.
pub fn stats() -> Stats {
    let s = sys::boxroot_get_statistics();
    Stats {
        live_roots: s.live_roots,
        pools: s.pools,
        pools_with_room: s.pools_with_room,
        pools_empty: s.pools_empty,
        pool_bytes: s.pool_bytes,
        slots_per_pool: s.slots_per_pool,
        domains: s.domains,
        minor_scans: s.minor_scans,
        major_scans: s.major_scans,
        remote_deletes: s.remote_deletes,
        pools_adopted: s.pools_adopted,
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} live roots in {} pools of {} KiB ({} with room, {} empty, {} adopted); \
             {} minor and {} major root scans, {} remote deletes",
            self.live_roots,
            self.pools,
            self.pool_bytes / 1024,
            self.pools_with_room,
            self.pools_empty,
            self.pools_adopted,
            self.minor_scans,
            self.major_scans,
            self.remote_deletes,
        )
    }
}
