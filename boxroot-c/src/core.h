/* SPDX-License-Identifier: MIT */
/* The public headers as the allocator sees them: even in the checked flavour, a root is a slot
   here, and the fast paths are inlined (names.h). */
#ifndef BXR_CORE_H
#define BXR_CORE_H

#define BXR_CORE
#include "../include/boxroot/host.h"

#endif
