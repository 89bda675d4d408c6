/* The check of interned texts: each record by itself, then its place in its shard's table (check.h). Relies on step_parts.h. */
#include "kvspace/alloc_parts.h"
#include "kvspace/check.h"
#include "kvspace/path.h"
#include "kvspace/step_parts.h"

#include <stdlib.h>
#include <string.h>

const char *check_step_record(const struct check *check, uint32_t ref, unsigned kind) {
    const struct arena *arena = &check->space->arena;
    const struct step *step = ref ? step_at(arena, ref) : NULL;
    if (!step) return "lies outside of the space";
    if (alloc_bytes(arena, ref) < offsetof(struct step, text) + step->bytes + 1u || alloc_class_of(arena, ref) == CLASS_NODE)
        return "is no block of its size";
    if (step->kind < STEP_OF_CHILD || step->kind > STEP_IS_TYPE || (kind && step->kind != kind)) return "is of the wrong kind";
    if (step->text[step->bytes] || step->hash != path_hash(step->text, step->bytes, step->kind == STEP_OF_MEMBER))
        return "does not fit its checksum";
    if (!atomic_load_explicit(&step->uses, memory_order_relaxed)) return "has no users";
    return NULL;
}

static _Atomic uint32_t *slot_of(struct check *check, uint32_t ref) {
    const struct step *step = step_at(&check->space->arena, ref);
    struct shard *shard = shard_of(check->space, step->hash);
    uint32_t at = atomic_load_explicit(&shard->table, memory_order_relaxed);
    struct shard_table *table = at ? shard_table_at(check->space, at) : NULL;
    _Atomic uint32_t *free_slot;
    return table ? shard_find(check->space, table, step->text, step->bytes, step->hash, step->kind, &free_slot) : NULL;
}

uint32_t check_step_twin(struct check *check, uint32_t ref) {
    _Atomic uint32_t *slot = slot_of(check, ref);
    return slot ? atomic_load_explicit(slot, memory_order_relaxed) : 0;
}

void check_step_forget(struct check *check, uint32_t ref) {
    _Atomic uint32_t *slot = slot_of(check, ref);
    if (slot && atomic_load_explicit(slot, memory_order_relaxed) == ref) atomic_store_explicit(slot, SLOT_GONE, memory_order_relaxed);
    alloc_check_unclaim(&check->memory, ref);
}

static const char *slot_fault(struct check *check, uint32_t shard, const struct shard_table *table, uint32_t at) {
    uint32_t ref = atomic_load_explicit(&table->slot[at], memory_order_relaxed);
    const char *why = check_step_record(check, ref, 0);
    if (why) return why;
    const struct step *step = step_at(&check->space->arena, ref);
    if (step->hash % STEP_SHARDS != shard) return "is in the wrong shard";
    if (slot_of(check, ref) != &table->slot[at]) return "is not found by its text";
    if (!check->exact) return NULL;
    if (alloc_check_claim(&check->memory, ref, offsetof(struct step, text) + step->bytes + 1u, false)) return "is in use as something else";
    (void)check_count_of(check, ref, CHECK_STEP);
    return NULL;
}

/* Fills the table anew with what is whole. */
static void refill(struct check *check, struct shard_table *table) {
    uint32_t *refs = malloc(((size_t)table->mask + 1) * sizeof *refs), count = 0;
    if (!refs) {
        check->no_memory = true;
        return;
    }
    for (uint32_t at = 0; at <= table->mask; at++) {
        uint32_t ref = atomic_load_explicit(&table->slot[at], memory_order_relaxed);
        if (ref > SLOT_GONE) refs[count++] = ref;
        atomic_store_explicit(&table->slot[at], 0, memory_order_relaxed);
    }
    table->filled = 0;
    shard_fill(check->space, table, refs, count);
    free(refs);
}

static void check_shard(struct check *check, uint32_t number) {
    struct shard *shard = &check->space->tree->shard[number];
    uint32_t ref = atomic_load_explicit(&shard->table, memory_order_relaxed);
    uint64_t before = check->faults;
    if (!ref) return;
    struct shard_table *table = shard_table_at(check->space, ref);
    uint64_t bytes = table ? shard_table_bytes((uint64_t)table->mask + 1) : 0;
    if (!table || alloc_bytes(&check->space->arena, ref) < bytes || (check->exact && alloc_check_claim(&check->memory, ref, bytes, false))) {
        check_fault(check, 0, "names: the table of shard %u is damaged", number);
        if (check->repair) atomic_store_explicit(&shard->table, 0, memory_order_relaxed);
        return;
    }
    bool again = false; /* a place that is not found may be right once the others are */
    for (uint32_t at = 0; at <= table->mask && !check_is_over(check); at++) {
        if (atomic_load_explicit(&table->slot[at], memory_order_relaxed) <= SLOT_GONE) continue;
        const char *why = slot_fault(check, number, table, at);
        if (!why) continue;
        check_fault(check, 0, "names: record %u of shard %u %s", atomic_load_explicit(&table->slot[at], memory_order_relaxed), number, why);
        if (check->repair) atomic_store_explicit(&table->slot[at], SLOT_GONE, memory_order_relaxed);
        again = true;
    }
    if (check->repair && (again || check->faults > before)) refill(check, table);
}

void check_steps(struct check *check) {
    for (uint32_t number = 0; number < STEP_SHARDS && !check_is_over(check); number++) {
        struct shard *shard = &check->space->tree->shard[number];
        mem_lock(check->space, &shard->lock);
        check_shard(check, number);
        mem_unlock(check->space, &shard->lock);
    }
}
