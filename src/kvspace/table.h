/* Child tables: compact ordered dictionaries from a step to a node, in one block each.
 *
 *     header | entries in order of insertion: {hash, node} | index: open addressing, words of position + 1
 *
 * Up to 16 entries are searched without an index: three lines of memory side by side cost less than three that are apart. A reader needs no lock: an entry is complete before `used` (or the index
 * word) makes it findable, a deleted entry's node is 0, and a grown or compacted table is a new block that its owner
 * publishes by one store; the old one is retired. The names are in the step records of the nodes, so a lookup reads index,
 * entry, node and name. Relies on node.h and space.h. Promises: O(1) expected; insertion order is kept for ever. */
#ifndef KVSPACE_TABLE_H
#define KVSPACE_TABLE_H

#include "kvspace/node.h"
#include "kvspace/path.h"
#include "kvspace/space.h"

#define TABLE_NOWHERE UINT32_MAX

/* The node behind a step, 0 if there is none; *position (may be NULL) gets its entry. Any reader, inside an epoch.
 * A node that is not live counts only with `any_state`. KVSPACE_EDAMAGED: -> *damaged. */
uint32_t table_find(const struct kvspace *space, uint32_t table, const struct path_step *step, uint32_t *position,
                    bool *damaged);

/* Whether one more entry fits. */
static inline bool table_has_room(const struct table *table) {
    return atomic_load_explicit(&table->used, memory_order_relaxed) < table->cap;
}

/* Makes a table with the live entries of `old` (0: none) and room for at least `more`, in fresh memory of the operation under way. Caller
 * holds the lock of the owner. Gives 0, or an error of the allocator, or EDAMAGED. */
int table_rebuild(struct kvspace *space, uint32_t old, uint32_t more, uint32_t *made);

/* Adds an entry at the end; there must be room, and the step must not be there. The lock is held. Gives the position. */
uint32_t table_append(struct table *table, uint32_t hash, uint32_t node);

/* The same when a death may have stopped an earlier try anywhere: afterwards the entry is there once, and indexed. */
void table_append_again(struct table *table, uint32_t hash, uint32_t node);

/* Position of the entry that holds the node, TABLE_NOWHERE if none does. Linear unless the hash finds it. */
uint32_t table_position(struct table *table, uint32_t hash, uint32_t node);

/* Empties an entry: one store, then the count. The lock is held. Idempotent. */
void table_remove(struct table *table, uint32_t position);

/* Counts the entries anew, after the holder of the lock died. */
void table_recount(struct table *table);

/* Makes the index and the counts anew from the entries, whose tags are right. For repair. */
void table_reindex(struct table *table);

/* The first entry, from position `from` on, whose node's order is after `order` (or any with `from_start`): for cursors. Gives the node and sets *position;
 * 0: none. */
uint32_t table_next(const struct kvspace *space, uint32_t table, uint32_t *position);

/* Where a cursor goes on that had seen the order `order`: the position of the first entry with a later one. */
uint32_t table_seek(const struct kvspace *space, uint32_t table, uint32_t order);

static inline uint32_t table_live(const struct kvspace *space, uint32_t table) {
    struct table *at = table ? table_at(&space->arena, table) : NULL;
    return at ? atomic_load_explicit(&at->live, memory_order_relaxed) : 0;
}

#endif
