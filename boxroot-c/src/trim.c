/* SPDX-License-Identifier: MIT */
#include "release.h"
#include "remote.h"
#include "setup.h"

static size_t trim_record(struct bxr_domain *domain) {
  bxr_remote_drain_all(domain);
  bxr_domain_retire(domain);
  domain->until_sample = BXR_UNDRAWN; /* slots that were handed out were taken back */
  return bxr_release_all(domain) * BXR_POOL_SIZE;
}

size_t bxr_domain_trim_empty(struct bxr_domain_head *self) {
  struct bxr_domain *domain = (struct bxr_domain *)self;
  bxr_remote_flush(domain);
  size_t trimmed = trim_record(domain);
  return domain->shadow == NULL ? trimmed : trimmed + trim_record(domain->shadow);
}

size_t boxroot_trim(void) {
  struct bxr_domain *self = bxr_setup_enter_if_trusted();
  return self == NULL ? 0 : bxr_domain_trim_empty(&self->head);
}
