/* The intern table (step.h).
 *
 * A shard's table: {mask, filled} and 2^n references; 0 is empty, 1 is a record that went away. `filled` counts both kinds
 * of words and may be too low by the number of deaths in the middle of an insert: the load limit leaves room for that, and
 * every probe is bounded by the size. Relies on space.h for locks and memory. */
#include "kvspace/step.h"
#include "kvspace/step_parts.h"

#include <string.h>

enum { SHARD_FIRST_SLOTS = 16 };

struct shard_table *shard_table_at(const struct kvspace *space, uint32_t ref) {
    struct shard_table *table = arena_at(&space->arena, ref, sizeof *table);
    if (!table || (table->mask & (table->mask + 1)) || !arena_at(&space->arena, ref, shard_table_bytes((uint64_t)table->mask + 1)))
        return NULL;
    return table;
}

static uint32_t spread(uint32_t hash) { return hash >> 6 | hash << 26; } /* the low bits chose the shard */

struct shard *shard_of(struct kvspace *space, uint32_t hash) { return &space->tree->shard[hash & (STEP_SHARDS - 1)]; }

_Atomic uint32_t *shard_find(const struct kvspace *space, struct shard_table *table, const char *text, uint32_t bytes, uint32_t hash,
                             uint8_t kind, _Atomic uint32_t **free_slot) {
    *free_slot = NULL;
    for (uint32_t probe = 0, at = spread(hash) & table->mask; probe <= table->mask; probe++, at = (at + 1) & table->mask) {
        uint32_t ref = atomic_load_explicit(&table->slot[at], memory_order_relaxed);
        if (ref <= SLOT_GONE) {
            if (!*free_slot) *free_slot = &table->slot[at];
            if (!ref) return NULL;
            continue;
        }
        const struct step *step = step_at(&space->arena, ref);
        if (step && step->hash == hash && step->kind == kind && step->bytes == bytes && memcmp(step->text, text, bytes) == 0)
            return &table->slot[at];
    }
    return NULL;
}

void shard_fill(const struct kvspace *space, struct shard_table *table, const uint32_t *refs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct step *step = step_at(&space->arena, refs[i]);
        uint32_t at = step ? spread(step->hash) & table->mask : 0, probe = 0;
        while (step && probe <= table->mask && atomic_load_explicit(&table->slot[at], memory_order_relaxed)) {
            at = (at + 1) & table->mask;
            probe++;
        }
        if (!step || probe > table->mask) continue;
        atomic_store_explicit(&table->slot[at], refs[i], memory_order_relaxed);
        table->filled++;
    }
}

/* A table of twice the size, or of the same when what fills the old one is mostly gone. */
static int grow(struct kvspace *space, struct shard *shard) {
    struct shard_table *old = shard->table ? shard_table_at(space, shard->table) : NULL;
    if (shard->table && !old) return KVSPACE_EDAMAGED;
    uint64_t slots = SHARD_FIRST_SLOTS;
    uint32_t ref, live = 0;
    for (uint32_t i = 0; old && i <= old->mask; i++)
        live += atomic_load_explicit(&old->slot[i], memory_order_relaxed) > SLOT_GONE;
    while (slots < (uint64_t)live * 2) slots *= 2;
    int rc = mem_take(space, shard_table_bytes(slots), &ref);
    if (rc) return rc;
    struct shard_table *table = arena_at(&space->arena, ref, shard_table_bytes(slots));
    memset(table, 0, shard_table_bytes(slots));
    table->mask = (uint32_t)(slots - 1);
    for (uint32_t i = 0; old && i <= old->mask; i++) {
        uint32_t step_ref = atomic_load_explicit(&old->slot[i], memory_order_relaxed);
        if (step_ref > SLOT_GONE) shard_fill(space, table, &step_ref, 1);
    }
    uint32_t gone = shard->table;
    mem_keep(space, ref); /* killed before: the new table is fresh memory of a dead operation, recovery frees it */
    /* killed here: the new table is nobody's until check --repair */
    atomic_store_explicit(&shard->table, ref, memory_order_release);
    /* killed here: the old table is nobody's until check --repair */
    if (gone) mem_retire(space, gone);
    return 0;
}

static int add(struct kvspace *space, struct shard *shard, const char *text, uint32_t bytes, uint32_t hash, uint8_t kind,
               uint32_t *out) {
    struct shard_table *table = shard->table ? shard_table_at(space, shard->table) : NULL;
    _Atomic uint32_t *slot = NULL;
    if (!table || (uint64_t)table->filled * 4 >= (uint64_t)table->mask * 3) {
        int rc = grow(space, shard);
        if (rc) return rc;
        table = shard_table_at(space, shard->table);
    }
    if (!table) return KVSPACE_EDAMAGED;
    shard_find(space, table, text, bytes, hash, kind, &slot);
    if (!slot) return KVSPACE_EDAMAGED;
    uint64_t need = offsetof(struct step, text) + (uint64_t)bytes + 1;
    uint32_t ref;
    int rc = mem_take(space, need, &ref);
    if (rc) return rc;
    struct step *step = arena_at(&space->arena, ref, need);
    atomic_store_explicit(&step->uses, 1, memory_order_relaxed);
    step->hash = hash;
    step->bytes = (uint16_t)bytes;
    step->kind = kind;
    step->spare = 0;
    memcpy(step->text, text, bytes);
    step->text[bytes] = 0;
    bool new_word = !atomic_load_explicit(slot, memory_order_relaxed);
    mem_keep(space, ref); /* killed here: the record is nobody's until check --repair */
    atomic_store_explicit(slot, ref, memory_order_release);
    if (new_word) table->filled++;
    *out = ref;
    return 0;
}

int step_intern(struct kvspace *space, const char *text, uint32_t bytes, uint32_t hash, uint8_t kind, uint32_t *ref) {
    struct shard *shard = shard_of(space, hash);
    _Atomic uint32_t *free_slot, *slot = NULL;
    int rc = 0;
    mem_lock(space, &shard->lock);
    struct shard_table *table = shard->table ? shard_table_at(space, shard->table) : NULL;
    if (shard->table && !table) rc = KVSPACE_EDAMAGED;
    if (table) slot = shard_find(space, table, text, bytes, hash, kind, &free_slot);
    if (slot) {
        *ref = atomic_load_explicit(slot, memory_order_relaxed);
        struct step *step = arena_at(&space->arena, *ref, sizeof *step);
        atomic_fetch_add_explicit(&step->uses, 1, memory_order_relaxed);
        /* killed here: a use too many */
    } else if (!rc) {
        rc = add(space, shard, text, bytes, hash, kind, ref);
    }
    mem_unlock(space, &shard->lock);
    return rc;
}

int step_adopt(struct kvspace *space, uint32_t ref) {
    const struct step *step = step_at(&space->arena, ref);
    if (!step) return KVSPACE_EDAMAGED;
    struct shard *shard = shard_of(space, step->hash);
    mem_lock(space, &shard->lock);
    struct shard_table *table = shard->table ? shard_table_at(space, shard->table) : NULL;
    int rc = !table || (uint64_t)table->filled * 4 >= (uint64_t)table->mask * 3 ? grow(space, shard) : 0;
    table = rc ? NULL : shard_table_at(space, shard->table);
    if (table) shard_fill(space, table, &ref, 1);
    mem_unlock(space, &shard->lock);
    return rc;
}

void step_drop(struct kvspace *space, uint32_t ref) {
    struct step *step = (struct step *)(uintptr_t)(ref ? step_at(&space->arena, ref) : NULL);
    if (!step) return;
    if (atomic_load_explicit(&step->uses, memory_order_relaxed) > 1) {
        uint32_t uses = atomic_load_explicit(&step->uses, memory_order_relaxed);
        while (uses > 1)
            if (atomic_compare_exchange_weak_explicit(&step->uses, &uses, uses - 1, memory_order_release, memory_order_relaxed))
                return;
    }
    /* Perhaps the last: only under the shard's lock may a count become 0, since only there may it rise from any number. */
    struct shard *shard = shard_of(space, step->hash);
    mem_lock(space, &shard->lock);
    struct shard_table *table = shard->table ? shard_table_at(space, shard->table) : NULL;
    _Atomic uint32_t *free_slot;
    if (atomic_fetch_sub_explicit(&step->uses, 1, memory_order_acq_rel) == 1 && table) {
        _Atomic uint32_t *slot = shard_find(space, table, step->text, step->bytes, step->hash, step->kind, &free_slot);
        if (slot) atomic_store_explicit(slot, SLOT_GONE, memory_order_relaxed);
        /* killed here: the record is nobody's until check --repair */
        mem_retire(space, ref);
    }
    mem_unlock(space, &shard->lock);
}
