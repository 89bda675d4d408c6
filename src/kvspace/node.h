/* What the tree keeps in shared memory: nodes, child tables, step records, value blocks; and their accessors.
 * Relies on arena.h for checked pointers and on C11 atomics. Promises: whoever holds a node's lock may write it; everybody
 * else reads through the accessors below, which say which memory order they use and why; references are checked where they
 * are followed (node_at and its kin give NULL for one that leads out of the space).
 *
 * A node is one cache line. Its value is one of two cells: the low bit of `ver` says which is current. A writer fills the
 * idle cell and then publishes it by one store of `ver`; a reader loads ver, the cell, ver again, and retries if it moved.
 * So a writer that dies in between leaves the old value, and readers never wait (a latch: Lameter, seqlock_latch). */
#ifndef KVSPACE_NODE_H
#define KVSPACE_NODE_H

#include "kvspace/arena.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- cells ---- */

/* head: bits 0-7 tag, 8-15 flags, 16-31 free for the owner of a frame, 32-63 owner vthread. */
struct cell_value {
    uint64_t head, payload;
};

/* Tags of nodes' cells: 0 None, 1 to 31 a scalar of that kind in the payload, the others a block in the payload. */
enum {
    NODE_TAG_NONE = 0,
    NODE_TAG_BLOCK = 0x60,
    NODE_TAG_PROVIDER = 0x61, /* a block whose type is provider/NAME */
    NODE_TAG_OVERLAY = 0x62,  /* a block with the base's key */
    NODE_TAG_HIDDEN = 0x63    /* in an overlay: deleted here, whatever the base has */
};
#define NODE_FLAG_RO UINT64_C(0x100)
#define NODE_FLAG_OPAQUE UINT64_C(0x200) /* in an overlay: what the base has below is hidden */

static inline unsigned cell_value_tag(struct cell_value cell) { return (unsigned)(cell.head & 0xff); }
static inline bool cell_value_is_block(struct cell_value cell) {
    unsigned tag = cell_value_tag(cell);
    return tag >= NODE_TAG_BLOCK && tag <= NODE_TAG_OVERLAY;
}

/* ---- nodes ---- */

struct node {
    _Atomic uint64_t ver; /* bits 40-63 generation, 39 live, 0-38 sequence of writes */
    struct {
        _Atomic uint64_t head, payload;
    } cell[2];
    _Atomic uint32_t step;    /* its name: a step record */
    _Atomic uint32_t parent;
    _Atomic uint32_t kids;    /* child table of `/` and `/‥` steps */
    _Atomic uint32_t members; /* child table of `·` steps */
    _Atomic uint32_t lock;
    _Atomic uint32_t order;   /* live: number of the insertion among its siblings; dead: the next in a list */
};
static_assert(sizeof(struct node) == 64, "a node is one cache line");

#define NODE_SEQUENCE ((UINT64_C(1) << 39) - 1)
#define NODE_LIVE (UINT64_C(1) << 39)
#define NODE_GENERATION (UINT64_C(1) << 40)

static inline struct node *node_at(const struct arena *arena, uint32_t ref) {
    return ref & 3 ? NULL : (struct node *)arena_at(arena, ref, sizeof(struct node)); /* nodes are aligned to 64 */
}

/* Acquire: what was written before the node was published or its cell changed is seen with it. */
static inline uint64_t node_ver(const struct node *node) { return atomic_load_explicit(&node->ver, memory_order_acquire); }
static inline bool node_is_live(const struct node *node) { return node_ver(node) & NODE_LIVE; }
/* Generation and live bit: what a slot remembers. */
static inline uint64_t node_birth(uint64_t ver) { return ver >> 39; }

/* The current cell without the lock. The fence orders the loads of the cell before the second load of ver; it pairs with
 * the fence in node_put. Gives the ver that the cell belongs to. */
static inline uint64_t node_get(const struct node *node, struct cell_value *out) {
    for (;;) {
        uint64_t ver = node_ver(node);
        out->head = atomic_load_explicit(&node->cell[ver & 1].head, memory_order_relaxed);
        out->payload = atomic_load_explicit(&node->cell[ver & 1].payload, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&node->ver, memory_order_relaxed) == ver) return ver;
    }
}

static inline uint64_t node_ver_after(uint64_t ver, uint64_t writes) {
    return (ver & ~NODE_SEQUENCE) | ((ver + writes) & NODE_SEQUENCE);
}

/* Holder of the lock only. The fence makes the last publication visible before the idle cell changes: a reader that sees a
 * word of the new cell through an old `ver` then sees `ver` moved. Killed before the store of ver: the old value stands. */
static inline void node_put(struct node *node, struct cell_value cell) {
    uint64_t ver = atomic_load_explicit(&node->ver, memory_order_relaxed);
    unsigned idle = (ver & 1) ^ 1;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&node->cell[idle].head, cell.head, memory_order_relaxed);
    atomic_store_explicit(&node->cell[idle].payload, cell.payload, memory_order_relaxed);
    atomic_store_explicit(&node->ver, node_ver_after(ver, 1), memory_order_release);
}

/* Holder of the lock only: the same value under another number, for whoever watches. */
static inline void node_touch(struct node *node) {
    uint64_t ver = atomic_load_explicit(&node->ver, memory_order_relaxed);
    atomic_store_explicit(&node->ver, node_ver_after(ver, 2), memory_order_release);
}

/* ---- step records and interned types ---- */

enum { STEP_OF_CHILD = 1, STEP_OF_MEMBER = 2, STEP_IS_TYPE = 3 };

struct step {
    _Atomic uint32_t uses;
    _Atomic uint32_t link; /* once retired (alloc.h) */
    uint32_t hash;
    uint16_t bytes;
    uint8_t kind;
    uint8_t spare;
    char text[]; /* and a zero byte */
};

/* No name is empty: one that claims to be would make a key its own child. */
static inline const struct step *step_at(const struct arena *arena, uint32_t ref) {
    const struct step *step = (const struct step *)arena_at(arena, ref, 16);
    return step && step->bytes && arena_at(arena, ref, offsetof(struct step, text) + step->bytes + 1u) ? step : NULL;
}

/* ---- child tables ---- */

struct table_entry {
    uint32_t tag;          /* hash of the step */
    _Atomic uint32_t node; /* 0: deleted */
};

struct table {
    uint32_t cap;
    _Atomic uint32_t link; /* once retired (alloc.h) */
    _Atomic uint32_t used; /* entries in order of insertion, deleted ones included */
    _Atomic uint32_t live;
    uint32_t next;         /* order of the next insertion */
    uint16_t index_log2;   /* 0: no index, the entries are searched */
    uint16_t rebuilt;      /* how many tables stood here before: the same memory may come back for another */
    struct table_entry entry[]; /* cap of them, then 2^index_log2 words of the index: position + 1 */
};

enum { TABLE_UNINDEXED_MAX = 16 };

static inline uint64_t table_bytes(uint32_t cap, uint32_t index_log2) {
    return sizeof(struct table) + (uint64_t)cap * sizeof(struct table_entry) +
           (index_log2 ? sizeof(uint32_t) << index_log2 : 0);
}
static inline _Atomic uint32_t *table_index(struct table *table) { return (_Atomic uint32_t *)(void *)(table->entry + table->cap); }

static inline struct table *table_at(const struct arena *arena, uint32_t ref) {
    struct table *table = (struct table *)arena_at(arena, ref, sizeof(struct table));
    if (!table || table->index_log2 > 31) return NULL;
    return arena_at(arena, ref, table_bytes(table->cap, table->index_log2)) ? table : NULL;
}

/* ---- value blocks ---- */

struct value_block {
    _Atomic uint32_t refs; /* one of the node, one a pin */
    uint32_t link;         /* the allocator's, once the block is retired */
    uint32_t type;         /* a step record of kind STEP_IS_TYPE (they stay for ever); 0: the kind says it */
    uint8_t ndim;
    uint8_t body_at;       /* in units of 16 bytes from here */
    uint8_t shape;         /* bits 0-1 ref, 2-4 store */
    uint8_t kind;
    uint64_t body_bytes;
    uint64_t dims[];
};

/* ---- the tree's own record, made with the space; header->steps refers to it ---- */

enum { STEP_SHARDS = 64 };

struct shard {
    _Atomic uint32_t lock;
    _Atomic uint32_t table; /* step.c */
};

struct tree_root {
    struct shard shard[STEP_SHARDS];
    _Atomic uint32_t move_lock; /* one move of a subtree at a time */
    uint32_t spare[15];
};

#endif
