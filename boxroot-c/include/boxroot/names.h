/* SPDX-License-Identifier: MIT */
/* Private. The linker's names of the library's functions and variables. The names contain the
   flavour and the layout, so that users reach a library of the same flavour and layout, or the
   linker reports an error. The public functions also have plain names, for code that does not
   include boxroot.h (src/plain_names.c). */
#ifndef BOXROOT_NAMES_H
#define BOXROOT_NAMES_H

#include <caml/version.h>

#include "config.h"

/* Increase this with every change of the structs of inline.h, src/pool.h and src/domain.h, or of
   the rules of the fast paths, because a program may mix functions of two copies of the library. */
#define BXR_ABI 2

/* Pools have 2^BXR_POOL_LOG bytes, and are aligned to their size. May be set at compile time, to
   the same value for the library and its users. */
#ifndef BXR_POOL_LOG
#define BXR_POOL_LOG 14
#endif

#if BOXROOT_CHECKED
#define BXR_FLAVOUR _checked
#else
#define BXR_FLAVOUR
#endif

#define BXR_PASTE(prefix, name, flavour, abi, log) prefix##name##flavour##_abi##abi##_pool##log
#define BXR_NAME_OF(prefix, name, flavour, abi, log) BXR_PASTE(prefix, name, flavour, abi, log)
/* bxr_self_abi2_pool14, bxr_self_checked_abi2_pool14 */
#define BXR_NAME(name) BXR_NAME_OF(, name, BXR_FLAVOUR, BXR_ABI, BXR_POOL_LOG)

/* Each object that includes boxroot.h refers to bxr_flavour. The library defines that name only if
   it is of the same flavour and compiled for the same OCaml. */
#define BXR_PASTE_OCAML(name, major, minor) name##_for_ocaml_##major##_##minor
#define BXR_OCAML_NAME_OF(name, major, minor) BXR_PASTE_OCAML(name, major, minor)
/* bxr_flavour_abi2_pool14_for_ocaml_5_3 */
#define bxr_flavour                                                                                \
  BXR_OCAML_NAME_OF(BXR_NAME(bxr_flavour), OCAML_VERSION_MAJOR, OCAML_VERSION_MINOR)

extern char const bxr_flavour;
#if defined(__GNUC__) && !defined(BXR_CORE)
static char const *const bxr_flavour_of_this_object __attribute__((used)) = &bxr_flavour;
#endif

#define bxr_self BXR_NAME(bxr_self)
#define bxr_own_uses BXR_NAME(bxr_own_uses)
#define bxr_create_slow BXR_NAME(bxr_create_slow)
#define bxr_delete_slow BXR_NAME(bxr_delete_slow)
#define bxr_modify_slow BXR_NAME(bxr_modify_slow)
#define bxr_domain_refile BXR_NAME(bxr_domain_refile)

#define bxr_setup BXR_NAME(bxr_setup)
#define bxr_or_raise BXR_NAME(bxr_or_raise)
#define bxr_domain_attach BXR_NAME(bxr_domain_attach)
#define bxr_domain_reenter BXR_NAME(bxr_domain_reenter)
#define bxr_domain_trim_empty BXR_NAME(bxr_domain_trim_empty)
#define bxr_domain_stats BXR_NAME(bxr_domain_stats)
#define bxr_lock_state BXR_NAME(bxr_lock_state)
#define bxr_lock_confirm BXR_NAME(bxr_lock_confirm)
#define bxr_use_begin BXR_NAME(bxr_use_begin)
#define bxr_use_begin_to_lock BXR_NAME(bxr_use_begin_to_lock)
#define bxr_use_end BXR_NAME(bxr_use_end)
#define bxr_uses_forbid BXR_NAME(bxr_uses_forbid)
#define bxr_uses_forked BXR_NAME(bxr_uses_forked)
#define bxr_uses_go_on BXR_NAME(bxr_uses_go_on)
#define bxr_uses_innermost BXR_NAME(bxr_uses_innermost)
#define bxr_uses_of_others BXR_NAME(bxr_uses_of_others)
#define bxr_uses_pause BXR_NAME(bxr_uses_pause)
#define bxr_uses_resume BXR_NAME(bxr_uses_resume)
#define bxr_close BXR_NAME(bxr_close)
#define bxr_runtime_gone BXR_NAME(bxr_runtime_gone)
#define bxr_is_gone BXR_NAME(bxr_is_gone)
#define bxr_pin BXR_NAME(bxr_pin)

/* Inline functions. If a compiler does not inline one, it calls the library's. */
#define bxr_slot BXR_NAME(bxr_slot)
#define bxr_start_of BXR_NAME(bxr_start_of)
#define bxr_pool_at BXR_NAME(bxr_pool_at)
#define bxr_is_fast_owner BXR_NAME(bxr_is_fast_owner)
#define bxr_delete_beside BXR_NAME(bxr_delete_beside)
#define bxr_modify_moved BXR_NAME(bxr_modify_moved)
#define bxr_push BXR_NAME(bxr_push)
#define bxr_pop BXR_NAME(bxr_pop)
#define bxr_may_be_young BXR_NAME(bxr_may_be_young)

/* The public functions. They are renamed only for the linker: users may have other things of these
   names, such as members of structs. Compilers without this pragma use the plain names. */
#if defined(__GNUC__)
#define BXR_PRAGMA(text) _Pragma(#text)
#define BXR_RENAME(name, linked) BXR_PRAGMA(redefine_extname name linked)
#define BXR_PUBLIC(name)                                                                           \
  BXR_RENAME(name, BXR_NAME_OF(__USER_LABEL_PREFIX__, name, BXR_FLAVOUR, BXR_ABI, BXR_POOL_LOG))
/* clang-format off */
BXR_PUBLIC(boxroot_create)
BXR_PUBLIC(boxroot_get)
BXR_PUBLIC(boxroot_get_ref)
BXR_PUBLIC(boxroot_delete)
BXR_PUBLIC(boxroot_modify)
BXR_PUBLIC(boxroot_domain_self)
BXR_PUBLIC(boxroot_create_in)
BXR_PUBLIC(boxroot_delete_in)
BXR_PUBLIC(boxroot_modify_in)
BXR_PUBLIC(boxroot_create_many)
BXR_PUBLIC(boxroot_delete_many)
BXR_PUBLIC(boxroot_setup)
BXR_PUBLIC(boxroot_teardown)
BXR_PUBLIC(boxroot_lock_is_held)
BXR_PUBLIC(boxroot_status)
BXR_PUBLIC(boxroot_error_string)
BXR_PUBLIC(boxroot_stats)
BXR_PUBLIC(boxroot_print_stats)
BXR_PUBLIC(boxroot_trim)
BXR_PUBLIC(boxroot_profile)
BXR_PUBLIC(boxroot_profile_write)
BXR_PUBLIC(boxroot_validate)
BXR_PUBLIC(boxroot_print_leaks)
/* clang-format on */
#endif

#if BOXROOT_CHECKED
#define bxr_checked_create BXR_NAME(bxr_checked_create)
#define bxr_checked_get BXR_NAME(bxr_checked_get)
#define bxr_checked_get_ref BXR_NAME(bxr_checked_get_ref)
#define bxr_checked_delete BXR_NAME(bxr_checked_delete)
#define bxr_checked_modify BXR_NAME(bxr_checked_modify)
#define bxr_checked_create_in BXR_NAME(bxr_checked_create_in)
#define bxr_checked_delete_in BXR_NAME(bxr_checked_delete_in)
#define bxr_checked_modify_in BXR_NAME(bxr_checked_modify_in)
#define bxr_checked_create_many BXR_NAME(bxr_checked_create_many)
#define bxr_checked_delete_many BXR_NAME(bxr_checked_delete_many)
#define bxr_check_create BXR_NAME(bxr_check_create)
#define bxr_check_get BXR_NAME(bxr_check_get)
#define bxr_check_get_ref BXR_NAME(bxr_check_get_ref)
#define bxr_check_delete BXR_NAME(bxr_check_delete)
#define bxr_check_modify BXR_NAME(bxr_check_modify)
#define bxr_check_leaks BXR_NAME(bxr_check_leaks)
#define bxr_check_name BXR_NAME(bxr_check_name)

/* In the checked flavour, the public functions are those of check.c. The library's sources call the
   allocator's functions by the public names; their names for the linker are these. */
#ifdef BXR_CORE
#define boxroot_create BXR_NAME(bxr_core_create)
#define boxroot_get BXR_NAME(bxr_core_get)
#define boxroot_get_ref BXR_NAME(bxr_core_get_ref)
#define boxroot_delete BXR_NAME(bxr_core_delete)
#define boxroot_modify BXR_NAME(bxr_core_modify)
#define boxroot_create_in BXR_NAME(bxr_core_create_in)
#define boxroot_delete_in BXR_NAME(bxr_core_delete_in)
#define boxroot_modify_in BXR_NAME(bxr_core_modify_in)
#define boxroot_create_many BXR_NAME(bxr_core_create_many)
#define boxroot_delete_many BXR_NAME(bxr_core_delete_many)
#endif
#endif

#endif /* BOXROOT_NAMES_H */
