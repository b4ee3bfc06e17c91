/* SPDX-License-Identifier: MIT */
/* The flavour of the library: 0, or 1 for the checked one (boxroot/checked.h). An installed copy of
   this file says which one was installed. In the source tree, -DBOXROOT_CHECKED=1 picks the checked
   flavour, for the library and all its users. */
#ifndef BOXROOT_CONFIG_H
#define BOXROOT_CONFIG_H

#ifndef BOXROOT_CHECKED
#define BOXROOT_CHECKED 0
#endif

#endif /* BOXROOT_CONFIG_H */
