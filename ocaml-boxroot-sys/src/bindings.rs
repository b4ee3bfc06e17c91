use crate::Value as value;

/// NULL is `None`.
pub type boxroot = Option<crate::BoxRoot>;
// Generated from boxroot.h by boxroot-bindgen; `make lint` says how to regenerate it.

pub const BXR_POOL_LOG: u32 = 14;
pub const BXR_HEAD_OFFSETS: u32 = 448;
pub const BXR_HEAD_SHIFT: u32 = 8;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct boxroot_private {
    _unused: [u8; 0],
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_create_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_create_checked_abi2_pool14")]
    pub fn boxroot_create(v: value) -> boxroot;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_get_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_get_checked_abi2_pool14")]
    pub fn boxroot_get(r: boxroot) -> value;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_get_ref_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_get_ref_checked_abi2_pool14")]
    pub fn boxroot_get_ref(r: boxroot) -> *const value;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_delete_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_delete_checked_abi2_pool14")]
    pub fn boxroot_delete(r: boxroot);
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_modify_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_modify_checked_abi2_pool14")]
    pub fn boxroot_modify(r: *mut boxroot, v: value) -> bool;
}
pub type boxroot_domain = *mut bxr_domain_head;
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_domain_self_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_domain_self_checked_abi2_pool14")]
    pub fn boxroot_domain_self() -> boxroot_domain;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_create_in_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_create_in_checked_abi2_pool14")]
    pub fn boxroot_create_in(domain: boxroot_domain, v: value) -> boxroot;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_delete_in_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_delete_in_checked_abi2_pool14")]
    pub fn boxroot_delete_in(domain: boxroot_domain, r: boxroot);
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_modify_in_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_modify_in_checked_abi2_pool14")]
    pub fn boxroot_modify_in(domain: boxroot_domain, r: *mut boxroot, v: value) -> bool;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_create_many_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_create_many_checked_abi2_pool14")]
    pub fn boxroot_create_many(
        domain: boxroot_domain,
        roots: *mut boxroot,
        values: *const value,
        n: usize,
    ) -> bool;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_delete_many_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_delete_many_checked_abi2_pool14")]
    pub fn boxroot_delete_many(domain: boxroot_domain, roots: *const boxroot, n: usize);
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_setup_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_setup_checked_abi2_pool14")]
    pub fn boxroot_setup() -> bool;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_teardown_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_teardown_checked_abi2_pool14")]
    pub fn boxroot_teardown();
}
pub const BOXROOT_NOT_SETUP: boxroot_state = 0;
pub const BOXROOT_RUNNING: boxroot_state = 1;
pub const BOXROOT_TORE_DOWN: boxroot_state = 2;
pub const BOXROOT_INVALID: boxroot_state = 3;
pub type boxroot_state = ::core::ffi::c_uint;
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_lock_is_held_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_lock_is_held_checked_abi2_pool14")]
    pub fn boxroot_lock_is_held() -> bool;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_status_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_status_checked_abi2_pool14")]
    pub fn boxroot_status() -> ::core::ffi::c_int;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_error_string_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_error_string_checked_abi2_pool14")]
    pub fn boxroot_error_string() -> *const ::core::ffi::c_char;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct boxroot_stats {
    pub live_roots: usize,
    pub pools: usize,
    pub pools_current: usize,
    pub pools_full: usize,
    pub pools_partial: usize,
    pub pools_empty: usize,
    pub bytes: usize,
    pub slots_per_pool: usize,
    pub domains: usize,
    pub minor_scans: u64,
    pub major_scans: u64,
    pub longest_minor_scan: u64,
    pub longest_major_scan: u64,
    pub deferred_deletes: u64,
    pub barrier_hits: u64,
    pub pools_adopted: u64,
    pub waiting_deletes: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of boxroot_stats"][::core::mem::size_of::<boxroot_stats>() - 136usize];
    ["Alignment of boxroot_stats"][::core::mem::align_of::<boxroot_stats>() - 8usize];
    ["Offset of field: boxroot_stats::live_roots"]
        [::core::mem::offset_of!(boxroot_stats, live_roots) - 0usize];
    ["Offset of field: boxroot_stats::pools"]
        [::core::mem::offset_of!(boxroot_stats, pools) - 8usize];
    ["Offset of field: boxroot_stats::pools_current"]
        [::core::mem::offset_of!(boxroot_stats, pools_current) - 16usize];
    ["Offset of field: boxroot_stats::pools_full"]
        [::core::mem::offset_of!(boxroot_stats, pools_full) - 24usize];
    ["Offset of field: boxroot_stats::pools_partial"]
        [::core::mem::offset_of!(boxroot_stats, pools_partial) - 32usize];
    ["Offset of field: boxroot_stats::pools_empty"]
        [::core::mem::offset_of!(boxroot_stats, pools_empty) - 40usize];
    ["Offset of field: boxroot_stats::bytes"]
        [::core::mem::offset_of!(boxroot_stats, bytes) - 48usize];
    ["Offset of field: boxroot_stats::slots_per_pool"]
        [::core::mem::offset_of!(boxroot_stats, slots_per_pool) - 56usize];
    ["Offset of field: boxroot_stats::domains"]
        [::core::mem::offset_of!(boxroot_stats, domains) - 64usize];
    ["Offset of field: boxroot_stats::minor_scans"]
        [::core::mem::offset_of!(boxroot_stats, minor_scans) - 72usize];
    ["Offset of field: boxroot_stats::major_scans"]
        [::core::mem::offset_of!(boxroot_stats, major_scans) - 80usize];
    ["Offset of field: boxroot_stats::longest_minor_scan"]
        [::core::mem::offset_of!(boxroot_stats, longest_minor_scan) - 88usize];
    ["Offset of field: boxroot_stats::longest_major_scan"]
        [::core::mem::offset_of!(boxroot_stats, longest_major_scan) - 96usize];
    ["Offset of field: boxroot_stats::deferred_deletes"]
        [::core::mem::offset_of!(boxroot_stats, deferred_deletes) - 104usize];
    ["Offset of field: boxroot_stats::barrier_hits"]
        [::core::mem::offset_of!(boxroot_stats, barrier_hits) - 112usize];
    ["Offset of field: boxroot_stats::pools_adopted"]
        [::core::mem::offset_of!(boxroot_stats, pools_adopted) - 120usize];
    ["Offset of field: boxroot_stats::waiting_deletes"]
        [::core::mem::offset_of!(boxroot_stats, waiting_deletes) - 128usize];
};
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_stats_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_stats_checked_abi2_pool14")]
    pub fn boxroot_stats(s: *mut boxroot_stats, size: usize);
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_print_stats_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_print_stats_checked_abi2_pool14")]
    pub fn boxroot_print_stats();
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_trim_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_trim_checked_abi2_pool14")]
    pub fn boxroot_trim() -> usize;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_profile_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_profile_checked_abi2_pool14")]
    pub fn boxroot_profile(rate: u32);
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_profile_write_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_profile_write_checked_abi2_pool14")]
    pub fn boxroot_profile_write(file: ::core::ffi::c_int, age: u32) -> bool;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_validate_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_validate_checked_abi2_pool14")]
    pub fn boxroot_validate() -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "boxroot_print_leaks_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "boxroot_print_leaks_checked_abi2_pool14")]
    pub fn boxroot_print_leaks();
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct bxr_batch {
    pub start: usize,
    pub bits: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of bxr_batch"][::core::mem::size_of::<bxr_batch>() - 16usize];
    ["Alignment of bxr_batch"][::core::mem::align_of::<bxr_batch>() - 8usize];
    ["Offset of field: bxr_batch::start"][::core::mem::offset_of!(bxr_batch, start) - 0usize];
    ["Offset of field: bxr_batch::bits"][::core::mem::offset_of!(bxr_batch, bits) - 8usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct bxr_pool_head {
    pub fast_owner: *mut bxr_domain_head,
    pub free: usize,
    pub young: bool,
    pub countdown: isize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of bxr_pool_head"][::core::mem::size_of::<bxr_pool_head>() - 32usize];
    ["Alignment of bxr_pool_head"][::core::mem::align_of::<bxr_pool_head>() - 8usize];
    ["Offset of field: bxr_pool_head::fast_owner"]
        [::core::mem::offset_of!(bxr_pool_head, fast_owner) - 0usize];
    ["Offset of field: bxr_pool_head::free"][::core::mem::offset_of!(bxr_pool_head, free) - 8usize];
    ["Offset of field: bxr_pool_head::young"]
        [::core::mem::offset_of!(bxr_pool_head, young) - 16usize];
    ["Offset of field: bxr_pool_head::countdown"]
        [::core::mem::offset_of!(bxr_pool_head, countdown) - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct bxr_domain_head {
    pub runtime_state: *mut ::core::ffi::c_void,
    pub free: usize,
    pub uncounted: usize,
    pub outgoing: bxr_batch,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of bxr_domain_head"][::core::mem::size_of::<bxr_domain_head>() - 40usize];
    ["Alignment of bxr_domain_head"][::core::mem::align_of::<bxr_domain_head>() - 8usize];
    ["Offset of field: bxr_domain_head::runtime_state"]
        [::core::mem::offset_of!(bxr_domain_head, runtime_state) - 0usize];
    ["Offset of field: bxr_domain_head::free"]
        [::core::mem::offset_of!(bxr_domain_head, free) - 8usize];
    ["Offset of field: bxr_domain_head::uncounted"]
        [::core::mem::offset_of!(bxr_domain_head, uncounted) - 16usize];
    ["Offset of field: bxr_domain_head::outgoing"]
        [::core::mem::offset_of!(bxr_domain_head, outgoing) - 24usize];
};
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_create_slow_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_create_slow_checked_abi2_pool14")]
    pub fn bxr_create_slow(v: value) -> boxroot;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_delete_slow_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_delete_slow_checked_abi2_pool14")]
    pub fn bxr_delete_slow(r: boxroot);
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_modify_slow_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_modify_slow_checked_abi2_pool14")]
    pub fn bxr_modify_slow(r: boxroot, v: value) -> boxroot;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_domain_refile_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_domain_refile_checked_abi2_pool14")]
    pub fn bxr_domain_refile(pool: *mut bxr_pool_head);
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_domain_attach_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_domain_attach_checked_abi2_pool14")]
    pub fn bxr_domain_attach() -> *mut bxr_domain_head;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_domain_trim_empty_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_domain_trim_empty_checked_abi2_pool14")]
    pub fn bxr_domain_trim_empty(self_: *mut bxr_domain_head) -> usize;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_domain_stats_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_domain_stats_checked_abi2_pool14")]
    pub fn bxr_domain_stats(self_: *mut bxr_domain_head, s: *mut boxroot_stats, size: usize);
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_domain_reenter_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_domain_reenter_checked_abi2_pool14")]
    pub fn bxr_domain_reenter() -> *mut bxr_domain_head;
}
pub const BXR_LOCK_NOT_HELD: bxr_lock = 0;
pub const BXR_LOCK_HELD: bxr_lock = 1;
pub const BXR_LOCK_ENDED: bxr_lock = 2;
pub const BXR_LOCK_UNCERTAIN: bxr_lock = 3;
pub type bxr_lock = ::core::ffi::c_uint;
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_lock_state_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_lock_state_checked_abi2_pool14")]
    pub fn bxr_lock_state() -> ::core::ffi::c_int;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_lock_confirm_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_lock_confirm_checked_abi2_pool14")]
    pub fn bxr_lock_confirm();
}
pub const BXR_USE_DOWN: bxr_use = 0;
pub const BXR_USE_FORKED: bxr_use = -1;
pub const BXR_USE_HELD: bxr_use = -2;
pub const BXR_USE_ENDED: bxr_use = -3;
pub const BXR_USE_NOT_RUNNING: bxr_use = -4;
pub const BXR_USE_PAUSED: bxr_use = -5;
pub type bxr_use = ::core::ffi::c_int;
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_use_begin_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_use_begin_checked_abi2_pool14")]
    pub fn bxr_use_begin() -> ::core::ffi::c_int;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_use_begin_to_lock_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_use_begin_to_lock_checked_abi2_pool14")]
    pub fn bxr_use_begin_to_lock() -> ::core::ffi::c_int;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_use_end_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_use_end_checked_abi2_pool14")]
    pub fn bxr_use_end();
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_uses_forbid_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_uses_forbid_checked_abi2_pool14")]
    pub fn bxr_uses_forbid() -> usize;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_uses_pause_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_uses_pause_checked_abi2_pool14")]
    pub fn bxr_uses_pause();
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_uses_resume_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_uses_resume_checked_abi2_pool14")]
    pub fn bxr_uses_resume();
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_uses_of_others_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_uses_of_others_checked_abi2_pool14")]
    pub fn bxr_uses_of_others() -> usize;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_uses_forked_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_uses_forked_checked_abi2_pool14")]
    pub fn bxr_uses_forked() -> bool;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_uses_innermost_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_uses_innermost_checked_abi2_pool14")]
    pub fn bxr_uses_innermost() -> ::core::ffi::c_int;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_uses_go_on_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_uses_go_on_checked_abi2_pool14")]
    pub fn bxr_uses_go_on(number: ::core::ffi::c_int) -> bool;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_close_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_close_checked_abi2_pool14")]
    pub fn bxr_close();
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_runtime_gone_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_runtime_gone_checked_abi2_pool14")]
    pub fn bxr_runtime_gone();
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_is_gone_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_is_gone_checked_abi2_pool14")]
    pub fn bxr_is_gone() -> bool;
}
unsafe extern "C" {
    #[cfg_attr(not(feature = "debug-checks"), link_name = "bxr_pin_abi2_pool14")]
    #[cfg_attr(feature = "debug-checks", link_name = "bxr_pin_checked_abi2_pool14")]
    pub fn bxr_pin(address: *const ::core::ffi::c_void);
}
