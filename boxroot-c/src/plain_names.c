/* SPDX-License-Identifier: MIT */
/* The public functions under their plain names, such as boxroot_create, for code that does not
   include boxroot.h: OCaml's externals, other languages, dlsym. Code that includes it calls them by
   names that contain the flavour (names.h).

   A plain name cannot tell the flavour of its callers. So in the checked flavour it is hidden: only
   the executable or shared object that contains this copy of the library can call it. If it were
   visible, callers in other shared objects, with a copy of the plain flavour, would get handles of
   this copy. */
#include "core.h"

char const bxr_flavour = 0;

#if defined(__GNUC__)

#if BOXROOT_CHECKED
#define BOXROOT_NO_SITES
#include "../include/boxroot/checked.h"
/* Messages name the address of the call. */
#define HERE ((struct bxr_site){(char const *)__builtin_return_address(0) - 1, 0, 0})
#define OPERATION(name, ...) bxr_checked_##name(__VA_ARGS__, HERE)
#define VISIBILITY __attribute__((visibility("hidden")))
#else
#define OPERATION(name, ...) boxroot_##name(__VA_ARGS__)
#define VISIBILITY __attribute__((visibility("default")))
#endif

#define STRING_OF(prefix) #prefix
#define STRING(prefix) STRING_OF(prefix)
#define PLAIN(result, name, parameters, ...)                                                       \
  VISIBILITY result bxr_plain_##name parameters __asm__(STRING(__USER_LABEL_PREFIX__) #name);      \
  result bxr_plain_##name parameters { __VA_ARGS__; }

PLAIN(boxroot, boxroot_create, (value v), return OPERATION(create, v))
PLAIN(value, boxroot_get, (boxroot r), return OPERATION(get, r))
PLAIN(value const *, boxroot_get_ref, (boxroot r), return OPERATION(get_ref, r))
PLAIN(void, boxroot_delete, (boxroot r), OPERATION(delete, r))
PLAIN(bool, boxroot_modify, (boxroot * r, value v), return OPERATION(modify, r, v))
PLAIN(boxroot_domain, boxroot_domain_self, (void), return boxroot_domain_self())
PLAIN(boxroot, boxroot_create_in, (boxroot_domain d, value v), return OPERATION(create_in, d, v))
PLAIN(void, boxroot_delete_in, (boxroot_domain d, boxroot r), OPERATION(delete_in, d, r))
PLAIN(bool, boxroot_modify_in, (boxroot_domain d, boxroot *r, value v),
      return OPERATION(modify_in, d, r, v))
PLAIN(bool, boxroot_create_many, (boxroot_domain d, boxroot *roots, value const *values, size_t n),
      return OPERATION(create_many, d, roots, values, n))
PLAIN(void, boxroot_delete_many, (boxroot_domain d, boxroot const *roots, size_t n),
      OPERATION(delete_many, d, roots, n))
PLAIN(bool, boxroot_setup, (void), return boxroot_setup())
PLAIN(void, boxroot_teardown, (void), boxroot_teardown())
PLAIN(bool, boxroot_lock_is_held, (void), return boxroot_lock_is_held())
PLAIN(int, boxroot_status, (void), return boxroot_status())
PLAIN(char const *, boxroot_error_string, (void), return boxroot_error_string())
PLAIN(void, boxroot_stats, (struct boxroot_stats * s, size_t size), boxroot_stats(s, size))
PLAIN(void, boxroot_print_stats, (void), boxroot_print_stats())
PLAIN(size_t, boxroot_trim, (void), return boxroot_trim())
PLAIN(void, boxroot_profile, (uint32_t rate), boxroot_profile(rate))
PLAIN(bool, boxroot_profile_write, (int file, uint32_t age),
      return boxroot_profile_write(file, age))
PLAIN(char const *, boxroot_validate, (void), return boxroot_validate())
PLAIN(void, boxroot_print_leaks, (void), boxroot_print_leaks())

#endif
