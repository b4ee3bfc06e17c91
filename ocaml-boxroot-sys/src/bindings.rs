use crate::Value as value;

/// NULL is `None`.
pub type boxroot = Option<crate::BoxRoot>;
// Generated from boxroot.h by boxroot-bindgen; `make bindings` regenerates it.

pub const BXR_POOL_LOG: u32 = 14;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct boxroot_private {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn boxroot_create(v: value) -> boxroot;
}
unsafe extern "C" {
    pub fn boxroot_get(r: boxroot) -> value;
}
unsafe extern "C" {
    pub fn boxroot_get_ref(r: boxroot) -> *const value;
}
unsafe extern "C" {
    pub fn boxroot_delete(r: boxroot);
}
unsafe extern "C" {
    pub fn boxroot_modify(r: *mut boxroot, v: value) -> bool;
}
unsafe extern "C" {
    pub fn boxroot_setup() -> bool;
}
unsafe extern "C" {
    pub fn boxroot_teardown();
}
pub const BOXROOT_NOT_SETUP: boxroot_state = 0;
pub const BOXROOT_RUNNING: boxroot_state = 1;
pub const BOXROOT_TORE_DOWN: boxroot_state = 2;
pub const BOXROOT_INVALID: boxroot_state = 3;
pub type boxroot_state = ::core::ffi::c_uint;
unsafe extern "C" {
    pub fn boxroot_status() -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn boxroot_error_string() -> *const ::core::ffi::c_char;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct boxroot_statistics {
    pub live_roots: usize,
    pub pools: usize,
    pub pools_with_room: usize,
    pub pools_empty: usize,
    pub pool_bytes: usize,
    pub slots_per_pool: usize,
    pub domains: usize,
    pub minor_scans: u64,
    pub major_scans: u64,
    pub remote_deletes: u64,
    pub pools_adopted: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of boxroot_statistics"][::core::mem::size_of::<boxroot_statistics>() - 88usize];
    ["Alignment of boxroot_statistics"][::core::mem::align_of::<boxroot_statistics>() - 8usize];
    ["Offset of field: boxroot_statistics::live_roots"]
        [::core::mem::offset_of!(boxroot_statistics, live_roots) - 0usize];
    ["Offset of field: boxroot_statistics::pools"]
        [::core::mem::offset_of!(boxroot_statistics, pools) - 8usize];
    ["Offset of field: boxroot_statistics::pools_with_room"]
        [::core::mem::offset_of!(boxroot_statistics, pools_with_room) - 16usize];
    ["Offset of field: boxroot_statistics::pools_empty"]
        [::core::mem::offset_of!(boxroot_statistics, pools_empty) - 24usize];
    ["Offset of field: boxroot_statistics::pool_bytes"]
        [::core::mem::offset_of!(boxroot_statistics, pool_bytes) - 32usize];
    ["Offset of field: boxroot_statistics::slots_per_pool"]
        [::core::mem::offset_of!(boxroot_statistics, slots_per_pool) - 40usize];
    ["Offset of field: boxroot_statistics::domains"]
        [::core::mem::offset_of!(boxroot_statistics, domains) - 48usize];
    ["Offset of field: boxroot_statistics::minor_scans"]
        [::core::mem::offset_of!(boxroot_statistics, minor_scans) - 56usize];
    ["Offset of field: boxroot_statistics::major_scans"]
        [::core::mem::offset_of!(boxroot_statistics, major_scans) - 64usize];
    ["Offset of field: boxroot_statistics::remote_deletes"]
        [::core::mem::offset_of!(boxroot_statistics, remote_deletes) - 72usize];
    ["Offset of field: boxroot_statistics::pools_adopted"]
        [::core::mem::offset_of!(boxroot_statistics, pools_adopted) - 80usize];
};
unsafe extern "C" {
    pub fn boxroot_get_statistics(s: *mut boxroot_statistics);
}
unsafe extern "C" {
    pub fn boxroot_print_stats();
}
unsafe extern "C" {
    pub fn boxroot_validate() -> *const ::core::ffi::c_char;
}
#[repr(C)]
pub struct bxr_pool_head {
    pub fast_owner: *mut bxr_domain_head,
    pub free: boxroot,
    pub epoch: u64,
    pub countdown: isize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of bxr_pool_head"][::core::mem::size_of::<bxr_pool_head>() - 32usize];
    ["Alignment of bxr_pool_head"][::core::mem::align_of::<bxr_pool_head>() - 8usize];
    ["Offset of field: bxr_pool_head::fast_owner"]
        [::core::mem::offset_of!(bxr_pool_head, fast_owner) - 0usize];
    ["Offset of field: bxr_pool_head::free"][::core::mem::offset_of!(bxr_pool_head, free) - 8usize];
    ["Offset of field: bxr_pool_head::epoch"]
        [::core::mem::offset_of!(bxr_pool_head, epoch) - 16usize];
    ["Offset of field: bxr_pool_head::countdown"]
        [::core::mem::offset_of!(bxr_pool_head, countdown) - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct bxr_domain_head {
    pub runtime_state: *mut ::core::ffi::c_void,
    pub current: *mut bxr_pool_head,
    pub epoch: u64,
    pub uncounted: *mut bxr_pool_head,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of bxr_domain_head"][::core::mem::size_of::<bxr_domain_head>() - 32usize];
    ["Alignment of bxr_domain_head"][::core::mem::align_of::<bxr_domain_head>() - 8usize];
    ["Offset of field: bxr_domain_head::runtime_state"]
        [::core::mem::offset_of!(bxr_domain_head, runtime_state) - 0usize];
    ["Offset of field: bxr_domain_head::current"]
        [::core::mem::offset_of!(bxr_domain_head, current) - 8usize];
    ["Offset of field: bxr_domain_head::epoch"]
        [::core::mem::offset_of!(bxr_domain_head, epoch) - 16usize];
    ["Offset of field: bxr_domain_head::uncounted"]
        [::core::mem::offset_of!(bxr_domain_head, uncounted) - 24usize];
};
unsafe extern "C" {
    pub fn bxr_create_slow(v: value) -> boxroot;
}
unsafe extern "C" {
    pub fn bxr_delete_slow(r: boxroot);
}
unsafe extern "C" {
    pub fn bxr_modify_slow(r: *mut boxroot, v: value) -> bool;
}
unsafe extern "C" {
    pub fn bxr_pool_event(pool: *mut bxr_pool_head);
}
unsafe extern "C" {
    pub fn bxr_domain_attach() -> *mut bxr_domain_head;
}
pub const BXR_LOCK_NOT_HELD: bxr_lock = 0;
pub const BXR_LOCK_HELD: bxr_lock = 1;
pub const BXR_LOCK_ENDED: bxr_lock = 2;
pub type bxr_lock = ::core::ffi::c_uint;
unsafe extern "C" {
    pub fn bxr_lock_state() -> ::core::ffi::c_int;
}
