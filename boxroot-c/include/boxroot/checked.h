/* SPDX-License-Identifier: MIT */
/* Private. The end of boxroot.h in the checked flavour. In this flavour a handle is the address of
   a record, which says where the root was created and deleted. Each operation looks at the record
   first. A mistake ends the program, with a message that names these places (src/check.c).

   A file that uses names such as boxroot_get for something else, such as members of structs,
   defines BOXROOT_NO_SITES before it includes boxroot.h. Its calls are also checked, but messages
   name the addresses of the calls instead of their lines. */
#ifndef BOXROOT_CHECKED_H
#define BOXROOT_CHECKED_H

#include <caml/version.h> /* as in the other flavour, whose users may rely on it */

#ifdef __cplusplus
extern "C" {
#endif

/* A place in a program. If `line` is 0, `file` is an address in its code. If `length` is 0, `file`
   ends with a zero byte. */
struct bxr_site {
  char const *file;
  uint32_t line, length;
};

/* The operations of boxroot.h, at a site. */
BOXROOT_NODISCARD boxroot bxr_checked_create(value v, struct bxr_site site);
value bxr_checked_get(boxroot r, struct bxr_site site);
value const *bxr_checked_get_ref(boxroot r, struct bxr_site site);
void bxr_checked_delete(boxroot r, struct bxr_site site);
BOXROOT_NODISCARD bool bxr_checked_modify(boxroot *r, value v, struct bxr_site site);
BOXROOT_NODISCARD boxroot bxr_checked_create_in(boxroot_domain domain, value v,
                                                struct bxr_site site);
void bxr_checked_delete_in(boxroot_domain domain, boxroot r, struct bxr_site site);
BOXROOT_NODISCARD bool bxr_checked_modify_in(boxroot_domain domain, boxroot *r, value v,
                                             struct bxr_site site);
BOXROOT_NODISCARD bool bxr_checked_create_many(boxroot_domain domain, boxroot *roots,
                                               value const *values, size_t n, struct bxr_site site);
void bxr_checked_delete_many(boxroot_domain domain, boxroot const *roots, size_t n,
                             struct bxr_site site);

/* The same operations for Rust, which panics on a mistake. On a mistake these functions do nothing
   but describe it in `text`, which has BXR_TEXT bytes, and return false. */
enum { BXR_TEXT = 1000 };
bool bxr_check_create(value v, struct bxr_site site, boxroot *made, char *text);
bool bxr_check_get(boxroot r, struct bxr_site site, value *found, char *text);
bool bxr_check_get_ref(boxroot r, struct bxr_site site, value const **found, char *text);
bool bxr_check_delete(boxroot r, struct bxr_site site, char *text);
bool bxr_check_modify(boxroot *r, value v, struct bxr_site site, bool *done, char *text);

/* Calls `each` for every site that created live roots, with their number, largest first. Does
   nothing if memory is short. */
void bxr_check_leaks(void (*each)(void *context, struct bxr_site site, size_t live), void *context);

/* Writes FILE:LINE, or OBJECT+OFFSET of an address, which addr2line reads. */
void bxr_check_name(struct bxr_site site, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#ifndef BOXROOT_NO_SITES
#ifdef __cplusplus
#define BXR_HERE (bxr_site{__FILE__, __LINE__, 0})
#else
#define BXR_HERE ((struct bxr_site){__FILE__, __LINE__, 0})
#endif
#define boxroot_create(...) bxr_checked_create(__VA_ARGS__, BXR_HERE)
#define boxroot_get(...) bxr_checked_get(__VA_ARGS__, BXR_HERE)
#define boxroot_get_ref(...) bxr_checked_get_ref(__VA_ARGS__, BXR_HERE)
#define boxroot_delete(...) bxr_checked_delete(__VA_ARGS__, BXR_HERE)
#define boxroot_modify(...) bxr_checked_modify(__VA_ARGS__, BXR_HERE)
#define boxroot_create_in(...) bxr_checked_create_in(__VA_ARGS__, BXR_HERE)
#define boxroot_delete_in(...) bxr_checked_delete_in(__VA_ARGS__, BXR_HERE)
#define boxroot_modify_in(...) bxr_checked_modify_in(__VA_ARGS__, BXR_HERE)
#define boxroot_create_many(...) bxr_checked_create_many(__VA_ARGS__, BXR_HERE)
#define boxroot_delete_many(...) bxr_checked_delete_many(__VA_ARGS__, BXR_HERE)
#endif

#endif /* BOXROOT_CHECKED_H */
