/* The operations of the executable and its plugins on boxroots. Each of them compiles this file,
   with its own boxroot.h. */
#ifndef USERS_H
#define USERS_H

#define CAML_NAME_SPACE
#include <boxroot.h>

struct users {
  bool (*setup)(void);
  int (*status)(void);
  char const *(*error)(void);
  boxroot (*create)(value);
  value (*get)(boxroot);
  bool (*modify)(boxroot *, value);
  void (*remove)(boxroot);
  size_t (*live)(void);
};

/* The public functions may be inlined or called here. */
static bool users_setup(void) { return boxroot_setup(); }
static boxroot users_create(value v) { return boxroot_create(v); }
static value users_get(boxroot r) { return boxroot_get(r); }
static bool users_modify(boxroot *r, value v) { return boxroot_modify(r, v); }
static void users_remove(boxroot r) { boxroot_delete(r); }
static size_t users_live(void) {
  struct boxroot_stats stats;
  boxroot_stats(&stats, sizeof stats);
  return stats.live_roots;
}

#define USERS                                                                                      \
  {                                                                                                \
    users_setup, boxroot_status, boxroot_error_string, users_create, users_get, users_modify,      \
      users_remove, users_live                                                                     \
  }

#endif
