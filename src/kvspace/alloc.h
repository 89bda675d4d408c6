/* Memory of a space: classes up to 32 KiB from caches in the participant's own slot, page runs above.
 *
 * Life of a block:  free -> fresh (alloc_take) -> linked (alloc_keep) -> stale (named before the unlinking store)
 *                        -> limbo (alloc_retire_stale) -> two epochs later free.
 * Every step is recorded in the slot first, so a death leaves each block in exactly one state. What is retired keeps its
 * content for readers but for one word, its link: byte 60 of a node, byte 4 of everything else. Memory of nodes is only
 * ever used for nodes, and their first 8 bytes (generation) survive being free.
 * Relies on party.h. Promises: deletes need no memory; EFULL or ENOSPC changes nothing. */
#ifndef KVSPACE_ALLOC_H
#define KVSPACE_ALLOC_H

#include "kvspace/arena.h"

/* At least `bytes` of uninitialised memory (64-aligned from 64 bytes on, page-aligned above 32 KiB), recorded as fresh.
 * EFULL, ENOSPC, ELIMIT (over the limit of the space at once, or more than PARTY_FRESH_MAX fresh blocks). */
int alloc_take(struct arena *arena, uint64_t bytes, ref_t *out);
/* A node's 64 bytes; the first 8 are what the last user left (zero at first). */
int alloc_take_node(struct arena *arena, ref_t *out);

/* The fresh block is linked now and survives our death. After the commit store. */
void alloc_keep(struct arena *arena, ref_t ref);
void alloc_keep_all(struct arena *arena);
/* Gives back fresh blocks that nobody else has seen. */
void alloc_give(struct arena *arena, ref_t ref);
void alloc_give_all(struct arena *arena);

/* Memory that the coming commit store unlinks: name it before, retire it after; alloc_stale_forget if it came to nothing.
 * At most PARTY_STALE_MAX. */
void alloc_stale(struct arena *arena, ref_t ref);
void alloc_retire_stale(struct arena *arena);
void alloc_stale_forget(struct arena *arena);
/* Both at once, for what is unlinked already and found again by other means if we die (a reaping intent, say). A death
 * in the middle may leave the block to check --repair. */
void alloc_retire(struct arena *arena, ref_t ref);

/* Usable bytes of a block in use; 0 if the reference is not the start of one (damage, or a bug of ours). */
uint64_t alloc_bytes(const struct arena *arena, ref_t ref);

/* Frees what is due in limbo, at most `most` blocks. Called by the others; the idle may call it too. */
void alloc_drain(struct arena *arena, uint32_t most);
/* Frees what stands in caches and limbo of slots that nobody uses, for when memory is short. Hold no lock. */
void alloc_scavenge(struct arena *arena);

/* ---- value blocks: counted ----
 * First word: the count (struct value_block in node.h). */
/* One more reference; false if the count had fallen to 0: the block is dying, look at the cell again. For readers
 * (inside an epoch) and for holders of a reference alike. */
bool block_ref(struct arena *arena, ref_t block);
/* One reference less; the last one retires the block. A death in the middle of a count above 1 may leave the block to
 * check --repair, never free it early. */
void block_unref(struct arena *arena, ref_t block);
/* A reference that the coming commit store removes: name it before, drop it after, or forget it. */
void block_drop_later(struct arena *arena, ref_t block);
void block_drop_named(struct arena *arena);
void block_drop_forget(struct arena *arena);
/* A borrowed reference that our death releases; false as block_ref; ELIMIT and friends never: without memory for the
 * record it is false with *code set. */
bool block_pin(struct arena *arena, ref_t block, int *code);
void block_unpin(struct arena *arena, ref_t block);
void block_unpin_all(struct arena *arena);

/* ---- figures and check ---- */
struct alloc_figures {
    uint64_t file_bytes, limit_bytes, high_bytes; /* what the runs cover */
    uint64_t free_bytes;                          /* in free runs */
    uint64_t spare_bytes;                         /* in free blocks of slabs */
    uint64_t big_bytes;
    uint64_t retired_blocks;                      /* in limbo: counted as used below */
    uint64_t block_bytes[CLASS_COUNT];            /* size of a block of the class */
    uint64_t used_blocks[CLASS_COUNT];
};
void alloc_figures(const struct arena *arena, struct alloc_figures *out);

/* The check of the memory, in three calls, by somebody who is alone in the space (or holds it still):
 * begin walks the runs, the free lists, caches and limbo lists; the tree then claims every block that it reaches;
 * end counts what nobody claimed. Messages go to `report` (one call a finding; repair: what was done). */
struct alloc_check {
    struct arena *arena;
    void (*report)(void *context, const char *text);
    void *context;
    bool repair;
    uint64_t errors;        /* findings that mean damage */
    uint64_t leaked_blocks, leaked_bytes; /* unreachable, not on any list: what deaths left; not damage */
    uint64_t free_blocks, used_blocks;
    unsigned char *marks;   /* private: 2 bits per 16-byte unit's block */
    uint64_t mark_bytes;
    unsigned char *heads;   /* private: a bit per page, set for the first of a run */
    uint64_t pages;
};
/* ENOMEM. Otherwise alloc_check_end must follow. */
int alloc_check_begin(struct alloc_check *check);
/* 0: claimed. KVSPACE_EDAMAGED: not a block in use of at least `bytes`. KVSPACE_EEXIST: claimed before. */
int alloc_check_claim(struct alloc_check *check, ref_t ref, uint64_t bytes, bool is_node);
/* Takes a claim back: the block is nobody's. */
void alloc_check_unclaim(struct alloc_check *check, ref_t ref);
/* Whether the block has been claimed. */
bool alloc_check_claimed(const struct alloc_check *check, ref_t ref);
/* Counts leaks; with repair frees them. Frees the marks. */
void alloc_check_end(struct alloc_check *check);
/* What can be checked while others work: runs and pools, each under its lock. All of the check; ENOMEM. */
int alloc_check_shared(struct alloc_check *check);

#endif
