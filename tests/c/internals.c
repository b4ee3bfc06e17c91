/* What the tests need of the allocator's internals. */
#include <stdlib.h>

#include "setup.h"

/* How many records have a directory mapped. */
size_t test_directories(void) {
  size_t n = 0;
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered)
    n += d->directory != NULL;
  return n;
}

/* Calls meanwhile() while the lists of the calling domain's pools are as they are after the first
   store of a promotion: the list of young pools does not come back to its start. */
void test_in_the_midst_of_a_promotion(void (*meanwhile)(void)) {
  struct bxr_domain *domain = bxr_enter();
  if (bxr_list_is_empty(&domain->young) || bxr_list_is_empty(&domain->old)) abort();
  domain->young.prev->next = domain->old.next;
  meanwhile();
  domain->young.prev->next = &domain->young;
}
