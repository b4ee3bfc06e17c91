/* SPDX-License-Identifier: MIT */
/* Roots with the ids of their values: tables, the market, and custom blocks that own a root. */
#include "stress.h"

#include <caml/custom.h>
#include <caml/memory.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void table_push(struct table *t, struct entry e) {
  if (t->count == t->room) {
    t->room = t->room == 0 ? 64 : 2 * t->room;
    t->entries = realloc(t->entries, t->room * sizeof e);
    if (t->entries == NULL) fail("out of memory");
  }
  t->entries[t->count++] = e;
}

struct entry table_remove(struct table *t, uint32_t i) {
  struct entry e = t->entries[i];
  t->entries[i] = t->entries[--t->count];
  return e;
}

/* ---- custom blocks that own a root, and delete it when they die ---- */

static void finalise_owner(value v) {
  struct entry e;
  memcpy(&e, Data_custom_val(v), sizeof e);
  hooks_in_finaliser();
  boxroot_delete(e.root);
}

static struct custom_operations owner = {
  "boxroot.stress.owner",     finalise_owner,
  custom_compare_default,     custom_hash_default,
  custom_serialize_default,   custom_deserialize_default,
  custom_compare_ext_default, custom_fixed_length_default,
};

value make_owner(struct entry e) {
  value v = caml_alloc_custom(&owner, sizeof e, 0, 1);
  memcpy(Data_custom_val(v), &e, sizeof e);
  return v;
}

static void check_owner(value v) {
  struct entry e;
  if (!Is_block(v) || Tag_val(v) != Custom_tag || Custom_ops_val(v) != &owner)
    fail("an owner of a root was lost: %p", (void *)v);
  memcpy(&e, Data_custom_val(v), sizeof e);
  check_entry(e);
}

void check_entry(struct entry e) {
  value v = boxroot_get(e.root);
  if (v != *boxroot_get_ref(e.root)) fail("boxroot_get and boxroot_get_ref differ");
  if (e.id == OWNER) {
    check_owner(v);
    return;
  }
  char const *wrong = wrong_value(v, e.id);
  if (wrong != NULL)
    fail("root %p lost %s of id %llx: it holds %p", (void *)e.root, wrong, (unsigned long long)e.id,
         (void *)v);
}

/* ---- the market ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table market;

static void move(struct table *to, struct table *from, uint32_t n) {
  for (; n > 0; n--) table_push(to, table_remove(from, from->count - 1));
}

void market_send(struct table *from, uint32_t n) {
  pthread_mutex_lock(&lock);
  move(&market, from, n < from->count ? n : from->count);
  pthread_mutex_unlock(&lock);
}

uint32_t market_receive(struct table *to, uint32_t n) {
  pthread_mutex_lock(&lock);
  if (n > market.count) n = market.count;
  move(to, &market, n);
  pthread_mutex_unlock(&lock);
  return n;
}
