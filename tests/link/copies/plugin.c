/* A shared object that uses boxroots, with a copy of the library of its own. */
#include "users.h"

extern struct users const plugin_users;
struct users const plugin_users = USERS;
