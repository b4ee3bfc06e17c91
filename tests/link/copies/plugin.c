/* A shared object that uses boxroots, with its own copy of the library. */
#include "users.h"

extern struct users const plugin_users;
struct users const plugin_users = USERS;
