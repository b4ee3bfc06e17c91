/* SPDX-License-Identifier: MIT */
#include "release.h"
#include "remote.h"
#include "setup.h"

size_t bxr_domain_trim_empty(struct bxr_domain_head *self) {
  struct bxr_domain *domain = (struct bxr_domain *)self;
  bxr_remote_drain_all(domain);
  bxr_domain_retire(domain);
  return bxr_release_all(domain) * BXR_POOL_SIZE;
}

size_t boxroot_trim(void) {
  struct bxr_domain *self = bxr_setup_enter_if_trusted();
  return self == NULL ? 0 : bxr_domain_trim_empty(&self->head);
}
