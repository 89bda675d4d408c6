/* What alloc.c gives to recovery and to the check: the settling of its half-done moves. Relies on alloc.h.
 * Promises: all of it is idempotent; `self` is the slot concerned, and its byte lock is held. */
#ifndef KVSPACE_ALLOC_PARTS_H
#define KVSPACE_ALLOC_PARTS_H

#include "kvspace/alloc.h"

/* Phase 1: the dead self held this lock word of the allocator (it may be any lock word; others are left alone). */
void alloc_settle_lock(struct arena *arena, uint64_t lock_at);
/* Phase 2: what was between two lists, then fresh, stale and drops by the outcome, then pins. */
void alloc_settle_lists(struct arena *arena, enum party_outcome outcome);
/* Gives both caches of every class to the pools. */
void alloc_flush_caches(struct arena *arena);

/* Geometry of a class. */
uint32_t class_block_bytes(unsigned class);
uint32_t class_slab_pages(unsigned class);
uint32_t class_batch(unsigned class); /* blocks of a batch */
/* Byte of the link in a free or retired block. */
static inline uint32_t class_link_at(unsigned class) { return class == CLASS_NODE ? 60 : 4; }

/* Class of the block that starts at `ref`: CLASS_COUNT for a big one; -1 for none. */
int alloc_class_of(const struct arena *arena, ref_t ref);
_Atomic uint32_t *alloc_link(const struct arena *arena, ref_t ref, unsigned class); /* NULL: outside */
/* The words of a batch's first block: the next batch and how many blocks hang on this one. */
_Atomic uint32_t *alloc_batch_next(const struct arena *arena, ref_t ref, unsigned class);

/* Puts a chain of free blocks into the pool, whose lock is held. */
void alloc_batch_close(struct arena *arena, unsigned class, ref_t head, uint32_t count);
/* Blocks that the slab at a page hands out: what its run has beyond is never used. */
uint32_t alloc_slab_blocks(const struct arena *arena, uint64_t page);

/* Acts as the participant `slot`, whose byte lock is held; gives back what to restore. */
struct party_mask {
    struct party_slot *self;
    uint32_t slot, held_count, section_depth;
};
struct party_mask party_put_on(struct arena *arena, uint32_t slot);
void party_take_off(struct arena *arena, struct party_mask mask);

#endif
