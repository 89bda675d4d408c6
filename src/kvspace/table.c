/* Child tables (table.h). The owner's lock serializes every change of a table; readers are never stopped.
 * Relies on node.h for the layout and on space.h for memory. Promises: what is read from a table is checked against its own
 * size, and its size against the space (table_at), so a damaged table is an error and not a stray access. */
#include "kvspace/table.h"

#include <string.h>

/* Whether the node's name is the step's. */
static bool name_is(const struct kvspace *space, const struct node *node, const struct path_step *step) {
    const struct step *record = step_at(&space->arena, atomic_load_explicit(&node->step, memory_order_acquire));
    return record && record->bytes == step->bytes && memcmp(record->text, step->name, step->bytes) == 0;
}

static uint32_t match(const struct kvspace *space, struct table *table, uint32_t at, const struct path_step *step,
                      bool *damaged) {
    struct table_entry *entry = &table->entry[at];
    if (entry->tag != step->hash) return 0;
    uint32_t ref = atomic_load_explicit(&entry->node, memory_order_acquire);
    while (ref) {
        const struct node *node = node_at(&space->arena, ref);
        if (!node) {
            *damaged = true;
            return 0;
        }
        if (name_is(space, node, step)) return ref;
        /* Another name, or a node that a move has just put elsewhere: its entry held another by then. */
        uint32_t now = atomic_load_explicit(&entry->node, memory_order_acquire);
        if (now == ref) return 0;
        ref = now;
    }
    return 0;
}

uint32_t table_find(const struct kvspace *space, uint32_t ref, const struct path_step *step, uint32_t *position,
                    bool *damaged) {
    if (!ref) return 0;
    struct table *table = table_at(&space->arena, ref);
    if (!table) {
        *damaged = true;
        return 0;
    }
    /* Acquire: entries below `used`, and those that an index word names, are complete. */
    uint32_t used = atomic_load_explicit(&table->used, memory_order_acquire), found;
    if (used > table->cap) used = table->cap;
    if (!table->index_log2) {
        for (uint32_t at = 0; at < used; at++)
            if (table->entry[at].tag == step->hash && (found = match(space, table, at, step, damaged))) {
                if (position) *position = at;
                return found;
            }
        return 0;
    }
    _Atomic uint32_t *index = table_index(table);
    uint32_t mask = (UINT32_C(1) << table->index_log2) - 1;
    for (uint32_t probe = 0, slot = step->hash & mask; probe <= mask; probe++, slot = (slot + 1) & mask) {
        uint32_t at = atomic_load_explicit(&index[slot], memory_order_acquire);
        if (!at) return 0;
        if (at - 1 >= table->cap) {
            *damaged = true;
            return 0;
        }
        if ((found = match(space, table, at - 1, step, damaged))) {
            if (position) *position = at - 1;
            return found;
        }
    }
    return 0;
}

static void index_put(struct table *table, uint32_t hash, uint32_t position) {
    _Atomic uint32_t *index = table_index(table);
    uint32_t mask = (UINT32_C(1) << table->index_log2) - 1, slot = hash & mask;
    for (uint32_t probe = 0; probe <= mask; probe++, slot = (slot + 1) & mask)
        if (!atomic_load_explicit(&index[slot], memory_order_relaxed)) {
            /* Release: the entry is complete before it can be found. */
            atomic_store_explicit(&index[slot], position + 1, memory_order_release);
            return;
        }
    assert(false); /* the index has more words than entries */
}

uint32_t table_append(struct table *table, uint32_t hash, uint32_t node) {
    uint32_t at = atomic_load_explicit(&table->used, memory_order_relaxed);
    assert(at < table->cap);
    table->entry[at].tag = hash;
    atomic_store_explicit(&table->entry[at].node, node, memory_order_release);
    /* killed here: the entry is behind `used`, nobody sees it, the next append writes over it */
    atomic_store_explicit(&table->used, at + 1, memory_order_release);
    /* killed here: recovery finds the entry through `used` and removes it if its node is not live */
    if (table->index_log2) index_put(table, hash, at);
    atomic_store_explicit(&table->live, atomic_load_explicit(&table->live, memory_order_relaxed) + 1, memory_order_relaxed);
    return at;
}

uint32_t table_position(struct table *table, uint32_t hash, uint32_t node) {
    uint32_t used = atomic_load_explicit(&table->used, memory_order_acquire);
    if (used > table->cap) used = table->cap;
    if (table->index_log2) {
        _Atomic uint32_t *index = table_index(table);
        uint32_t mask = (UINT32_C(1) << table->index_log2) - 1;
        for (uint32_t probe = 0, slot = hash & mask; probe <= mask; probe++, slot = (slot + 1) & mask) {
            uint32_t at = atomic_load_explicit(&index[slot], memory_order_acquire);
            if (!at) break;
            if (at - 1 < used && atomic_load_explicit(&table->entry[at - 1].node, memory_order_acquire) == node) return at - 1;
        }
    }
    for (uint32_t at = used; at-- > 0;) /* the newest first: recovery looks for what was just appended */
        if (atomic_load_explicit(&table->entry[at].node, memory_order_acquire) == node) return at;
    return TABLE_NOWHERE;
}

void table_append_again(struct table *table, uint32_t hash, uint32_t node) {
    uint32_t at = table_position(table, hash, node);
    if (at == TABLE_NOWHERE) {
        if (table_has_room(table)) table_append(table, hash, node);
        return;
    }
    if (table->index_log2) {
        _Atomic uint32_t *index = table_index(table);
        uint32_t mask = (UINT32_C(1) << table->index_log2) - 1, slot = hash & mask, seen;
        for (uint32_t probe = 0; probe <= mask; probe++, slot = (slot + 1) & mask) {
            seen = atomic_load_explicit(&index[slot], memory_order_relaxed);
            if (seen == at + 1) break;
            if (!seen) {
                atomic_store_explicit(&index[slot], at + 1, memory_order_release);
                break;
            }
        }
    }
    table_recount(table);
}

void table_remove(struct table *table, uint32_t position) {
    if (!atomic_load_explicit(&table->entry[position].node, memory_order_relaxed)) return;
    atomic_store_explicit(&table->entry[position].node, 0, memory_order_release);
    /* killed here: `live` is one too high until recovery counts anew */
    atomic_store_explicit(&table->live, atomic_load_explicit(&table->live, memory_order_relaxed) - 1, memory_order_relaxed);
}

void table_recount(struct table *table) {
    uint32_t used = atomic_load_explicit(&table->used, memory_order_relaxed), live = 0;
    if (used > table->cap) used = table->cap;
    for (uint32_t at = 0; at < used; at++)
        if (atomic_load_explicit(&table->entry[at].node, memory_order_relaxed)) live++;
    atomic_store_explicit(&table->live, live, memory_order_relaxed);
}

void table_reindex(struct table *table) {
    uint32_t used = atomic_load_explicit(&table->used, memory_order_relaxed);
    table_recount(table);
    if (!table->index_log2) return;
    for (uint32_t i = 0; i >> table->index_log2 == 0; i++)
        atomic_store_explicit(&table_index(table)[i], 0, memory_order_relaxed);
    for (uint32_t at = 0; at < used && at < table->cap; at++)
        if (atomic_load_explicit(&table->entry[at].node, memory_order_relaxed)) index_put(table, table->entry[at].tag, at);
}

/* Doubling while small, then by half: memory a key matters more than the copies. */
static uint32_t grown_cap(uint32_t live, uint32_t more) {
    uint64_t need = (uint64_t)live + more, cap = 2;
    while (cap < need && cap < 64) cap *= 2;
    if (cap < need) cap = need + need / 2;
    return cap < UINT32_MAX / 2 ? (uint32_t)cap : UINT32_MAX / 2;
}

static uint32_t index_log2_of(uint32_t cap) {
    uint32_t log2 = 4;
    if (cap <= TABLE_UNINDEXED_MAX) return 0;
    while ((UINT64_C(1) << log2) * 3 < (uint64_t)cap * 4) log2++; /* at most 3/4 full */
    return log2;
}

int table_rebuild(struct kvspace *space, uint32_t old_ref, uint32_t more, uint32_t *made) {
    struct table *old = old_ref ? table_at(&space->arena, old_ref) : NULL;
    if (old_ref && !old) return KVSPACE_EDAMAGED;
    uint32_t live = 0, used = 0;
    if (old) {
        used = atomic_load_explicit(&old->used, memory_order_relaxed);
        if (used > old->cap) return KVSPACE_EDAMAGED;
        table_recount(old);
        live = atomic_load_explicit(&old->live, memory_order_relaxed);
    }
    uint32_t cap = grown_cap(live, more), log2 = index_log2_of(cap);
    int rc = mem_take(space, table_bytes(cap, log2), made);
    if (rc) return rc;
    struct table *table = arena_at(&space->arena, *made, table_bytes(cap, log2));
    if (!table) return KVSPACE_EDAMAGED;
    memset(table, 0, table_bytes(cap, log2));
    table->cap = cap;
    table->index_log2 = (uint16_t)log2;
    table->rebuilt = old ? (uint16_t)(old->rebuilt + 1) : 0;
    table->next = old ? old->next : 1;
    for (uint32_t at = 0; at < used; at++) {
        uint32_t node = atomic_load_explicit(&old->entry[at].node, memory_order_relaxed);
        if (node) table_append(table, old->entry[at].tag, node);
    }
    return 0;
}

/* ---- cursors ---- */

uint32_t table_next(const struct kvspace *space, uint32_t ref, uint32_t *position) {
    struct table *table = ref ? table_at(&space->arena, ref) : NULL;
    if (!table) return 0;
    uint32_t used = atomic_load_explicit(&table->used, memory_order_acquire);
    if (used > table->cap) used = table->cap;
    for (; *position < used; ++*position) {
        uint32_t node = atomic_load_explicit(&table->entry[*position].node, memory_order_acquire);
        if (node) return node;
    }
    return 0;
}

/* The order number of the first entry at or behind `from` whose node is certainly this table's at the time; false: none.
 * A node may die while it is looked at: its `order` is then a link. So the entry is read again afterwards. */
static bool order_at(const struct kvspace *space, struct table *table, uint32_t used, uint32_t *from, uint32_t *order) {
    for (; *from < used; ++*from) {
        uint32_t ref = atomic_load_explicit(&table->entry[*from].node, memory_order_acquire);
        const struct node *node = ref ? node_at(&space->arena, ref) : NULL;
        if (!node || !node_is_live(node)) continue;
        *order = atomic_load_explicit(&node->order, memory_order_acquire);
        if (node_is_live(node) && atomic_load_explicit(&table->entry[*from].node, memory_order_acquire) == ref) return true;
    }
    return false;
}

/* Numbers ascend along the entries (by less than 2^31, so that they may wrap): a binary search over what is there. */
uint32_t table_seek(const struct kvspace *space, uint32_t ref, uint32_t order) {
    struct table *table = ref ? table_at(&space->arena, ref) : NULL;
    if (!table) return 0;
    uint32_t used = atomic_load_explicit(&table->used, memory_order_acquire);
    if (used > table->cap) used = table->cap;
    uint32_t low = 0, high = used; /* everything before `low` is not after `order`; everything from `high` on is */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, at = middle, seen;
        if (!order_at(space, table, high, &at, &seen) || (int32_t)(seen - order) > 0) high = middle;
        else low = at + 1;
    }
    return low;
}
