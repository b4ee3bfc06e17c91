/* bitmap_boxroot: after HotSpot's OopStorage. Blocks of 59 slots, each with a bitmap of the
   allocated slots; a second bitmap tells which slots may hold values of the minor heap. For any
   number of domains. Any thread may delete, with or without the lock. Memory is not given back, and
   the memory of a domain that has ended stays unused.

   A block is in one of three states: a domain owns it and allocates from it, it is on the list of
   blocks with room, or it is full. Bit OWNED of its bitmap is set in the first two states. The
   owner of a full block clears the bit, and the thread that frees the first slot of a full block
   sets it again. One atomic operation decides which thread that is, so a block is never on the list
   twice, and never has two owners. */
#include "../runtime/hook.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include <caml/address_class.h>
#include <caml/minor_gc.h>

#include "../runtime/implementation.h"

enum { WORDS = 64, HEAD = 5, CHUNK = 64 };

#define OWNED ((uint64_t)1)
#define ALL (~(uint64_t)0 << HEAD) /* bit i is for word i of the block */

struct block {
  _Atomic uint64_t allocated;
  _Atomic uint64_t young;   /* of the slots that are allocated */
  struct block *next_young; /* in the stack below, if any bit of young is set */
  struct block *next_room;  /* in the list below */
  struct block *next;       /* of all blocks */
  value slots[WORDS - HEAD];
};

_Static_assert(sizeof(struct block) == WORDS * sizeof(value), "a block is aligned to its size");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks, *with_room; /* under the mutex; scans read `blocks` */
static _Atomic(struct block *) young_blocks;
static __thread struct block *current; /* owned by this thread's domain, or NULL */

static void add_chunk(void) {
  struct block *chunk = aligned_alloc(sizeof *chunk, CHUNK * sizeof *chunk);
  if (chunk == NULL) abort();
  for (int i = 0; i < CHUNK; i++) {
    chunk[i] = (struct block){.allocated = OWNED, .next = blocks, .next_room = with_room};
    blocks = with_room = &chunk[i];
  }
}

static void take_block(void) {
  pthread_mutex_lock(&mutex);
  if (with_room == NULL) add_chunk();
  current = with_room;
  with_room = current->next_room;
  pthread_mutex_unlock(&mutex);
}

static struct block *block_of(cell c) {
  return (struct block *)((uintptr_t)c & ~(sizeof(struct block) - 1));
}

static uint64_t bit_of(cell c) { return (uint64_t)1 << ((uintptr_t)c / sizeof *c % WORDS); }

static void set_young(struct block *block, uint64_t bit) {
  if (atomic_fetch_or(&block->young, bit) != 0) return;
  block->next_young = young_blocks;
  while (!atomic_compare_exchange_weak(&young_blocks, &block->next_young, block)) {}
}

static cell bitmap_boxroot_new_cell(value v) {
  for (;;) {
    if (current == NULL) take_block();
    uint64_t allocated = current->allocated;
    uint64_t room = ~allocated & ALL;
    if (room != 0) {
      cell c = (cell)current + __builtin_ctzll(room);
      *c = v;
      uint64_t bit = room & -room;
      atomic_fetch_or(&current->allocated, bit);
      if (Is_block(v) && Is_young(v)) set_young(current, bit);
      return c;
    }
    /* Give the block up, unless a slot was freed meanwhile. */
    if (atomic_compare_exchange_strong(&current->allocated, &allocated, ALL)) current = NULL;
  }
}

static void bitmap_boxroot_delete_cell(cell c) {
  struct block *block = block_of(c);
  if (atomic_fetch_and(&block->allocated, ~bit_of(c)) != ALL) return;
  /* The block was full, and had no owner. Only this thread has seen that, so it must put the block
     on the list. */
  atomic_fetch_or(&block->allocated, OWNED);
  pthread_mutex_lock(&mutex);
  block->next_room = with_room;
  with_room = block;
  pthread_mutex_unlock(&mutex);
}

static cell bitmap_boxroot_modify_cell(cell c, value v) {
  *c = v;
  if (Is_block(v) && Is_young(v)) set_young(block_of(c), bit_of(c));
  return c;
}

static void scan_slots(struct scan const *scan, struct block *block, uint64_t slots) {
  for (; slots != 0; slots &= slots - 1) {
    cell c = (cell)block + __builtin_ctzll(slots);
    if (Is_block(*c)) scan_word(scan, c);
  }
}

/* The other domains are stopped. Threads without a lock may delete, but that does not change
   slots. */
static void scan(struct scan const *scan) {
  if (scan->minor) {
    struct block *next;
    for (struct block *block = atomic_exchange(&young_blocks, NULL); block != NULL; block = next) {
      next = block->next_young;
      scan_slots(scan, block, atomic_exchange(&block->young, 0) & block->allocated);
    }
  } else {
    for (struct block *block = blocks; block != NULL; block = block->next)
      scan_slots(scan, block, block->allocated & ALL);
  }
}

static void bitmap_boxroot_prepare(void) { scan_with(scan); }

#define CELL(name) bitmap_boxroot_##name
#define CELL_NAME "bitmap_boxroot"
#include "../runtime/cell.h"
