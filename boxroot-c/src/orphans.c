/* SPDX-License-Identifier: MIT */
/* Short comments in the code, such as "give", name claims of orphans.h and steps of remote.c. */
#include "orphans.h"

#include "remote.h"

/* ---- the stacks of records without a domain ---- */

static struct bxr_domain *orphans, *spares;

static void stack_push(struct bxr_domain **stack, struct bxr_domain *domain) {
  domain->next_idle = bxr_peek(stack);
  while (!bxr_compare_exchange(stack, &domain->next_idle, domain)) {}
}

/* no-ABA */
static struct bxr_domain *stack_take(struct bxr_domain **stack) {
  if (bxr_peek(stack) == NULL) return NULL;
  return bxr_exchange(stack, NULL);
}

struct bxr_domain *bxr_orphans_obtain(void) {
  struct bxr_domain *taken = stack_take(&spares); /* scans-adopt */
  if (taken == NULL) return bxr_domain_new();
  for (struct bxr_domain *rest = taken->next_idle, *next; rest != NULL; rest = next) {
    next = rest->next_idle;
    stack_push(&spares, rest);
  }
  return taken;
}

/* ---- the end of a domain ---- */

/* Prepares a record for its adopter. Returns whether it has pools. */
static bool abandon(struct bxr_domain *domain) {
  bxr_domain_close(domain);
  bxr_remote_flush(domain);
  bxr_domain_retire(domain);
  domain->until_sample = BXR_UNDRAWN; /* slots that were handed out are taken back */
  /* finished */
  bxr_domain_open_pools(domain);
  bxr_remote_put_back(domain);
  if (domain->pool_count == 0) bxr_domain_publish(domain, (struct bxr_census){0});
  return domain->pool_count != 0;
}

void bxr_orphans_add(struct bxr_domain *domain) {
  bool has_pools = abandon(domain);
  if (domain->shadow != NULL && abandon(domain->shadow)) has_pools = true;
  stack_push(has_pools ? &orphans : &spares, domain); /* always-scanned */
}

bool bxr_orphans_exist(void) { return bxr_load(&orphans) != NULL; }

static void merge_pools(struct bxr_domain *domain, struct bxr_domain *orphan) {
  bxr_domain_take_pools(domain, orphan); /* give */
  bxr_remote_forward(orphan);            /* count-merge, forward */
}

static void merge_records(struct bxr_domain *domain, struct bxr_domain *orphan) {
  merge_pools(domain, orphan);
  if (orphan->shadow != NULL && domain->shadow != NULL) {
    merge_pools(domain->shadow, orphan->shadow);
  } else if (orphan->shadow != NULL) {
    bxr_publish(&domain->shadow, orphan->shadow);
    bxr_publish(&orphan->shadow, NULL);
  }
  stack_push(&spares, orphan);
}

struct bxr_domain *bxr_orphans_adopt(struct bxr_domain *domain) {
  struct bxr_domain *next;
  for (struct bxr_domain *orphan = stack_take(&orphans); orphan != NULL; orphan = next) {
    next = orphan->next_idle;
    if (domain == NULL)
      domain = orphan;
    else
      merge_records(domain, orphan);
  }
  return domain;
}
