/* What the space holds and does not use: its figures, and the memory that lies in the slots of those who left (alloc.h).
 * Relies on alloc_parts.h, party.h. Promises: figures need no lock and are exact when nobody else is at work; who dies while
 * it empties another's slot leaves it ACTIVE, so that recovery finds it. */
#include "kvspace/alloc_parts.h"
#include "kvspace/fault.h"
#include "kvspace/party.h"

static uint32_t slots_high(const struct arena *arena) {
    uint32_t high = atomic_load_explicit(&arena->header->party_high, memory_order_acquire);
    return high < PARTY_MAX ? high : PARTY_MAX;
}

/* The slot's byte lock is ours and nobody lives in it. */
static void empty_slot(struct arena *arena, uint32_t slot) {
    _Atomic uint32_t *state = &arena->header->slot_state[slot];
    if (atomic_load_explicit(state, memory_order_acquire) != PARTY_FREE) return;
    struct party_mask mask = party_put_on(arena, slot);
    atomic_store_explicit(state, PARTY_ACTIVE, memory_order_release);
    FAULT_STEP(); /* killed here: a dead participant like any other */
    alloc_drain(arena, UINT32_MAX);
    alloc_flush_caches(arena);
    atomic_store_explicit(state, PARTY_FREE, memory_order_release);
    party_take_off(arena, mask);
}

void alloc_scavenge(struct arena *arena) {
    if (!arena->held_count && !arena->recovering) party_recover_all(arena);
    (void)(party_advance(arena) && party_advance(arena));
    alloc_drain(arena, UINT32_MAX);
    alloc_flush_caches(arena);
    uint32_t high = slots_high(arena);
    for (uint32_t slot = 0; slot < high; slot++) {
        if (slot == arena->slot || slot == arena->own_slot || platform_lock_try(arena->fd, FORMAT_LOCK_BASE + slot)) continue;
        empty_slot(arena, slot);
        platform_lock_drop(arena->fd, FORMAT_LOCK_BASE + slot);
    }
}

static uint64_t chain_total(const struct class_cache *cache) {
    return (uint64_t)chain_count(atomic_load_explicit(&cache->active, memory_order_relaxed)) +
           chain_count(atomic_load_explicit(&cache->spare, memory_order_relaxed));
}

void alloc_figures(const struct arena *arena, struct alloc_figures *out) {
    const struct space_header *header = arena->header;
    uint32_t high = slots_high(arena);
    *out = (struct alloc_figures){
        .file_bytes = atomic_load_explicit(&header->file_bytes, memory_order_relaxed),
        .limit_bytes = header->limit_bytes,
        .high_bytes = atomic_load_explicit(&header->high_pages, memory_order_relaxed) * FORMAT_PAGE,
        .free_bytes = atomic_load_explicit(&header->free_pages, memory_order_relaxed) * FORMAT_PAGE,
        .big_bytes = atomic_load_explicit(&header->big_pages, memory_order_relaxed) * FORMAT_PAGE,
    };
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        const struct class_pool *pool = &header->class[class];
        uint64_t bytes = class_block_bytes(class), slab = (uint64_t)class_slab_pages(class) * FORMAT_PAGE;
        uint64_t slabs = atomic_load_explicit(&pool->slabs, memory_order_relaxed);
        uint64_t spare = atomic_load_explicit(&pool->pooled, memory_order_relaxed) +
                         chain_count(atomic_load_explicit(&pool->fresh, memory_order_relaxed));
        for (uint32_t slot = 0; slot < high; slot++) spare += chain_total(&arena_slot(arena, slot)->cache[class]);
        uint64_t blocks = slabs * (slab / bytes);
        out->block_bytes[class] = bytes;
        out->used_blocks[class] = blocks > spare ? blocks - spare : 0; /* read at different moments */
        out->spare_bytes += blocks > spare ? spare * bytes : 0;
    }
    for (uint32_t slot = 0; slot < high; slot++)
        for (unsigned age = 0; age < LIMBO_AGES; age++)
            out->retired_blocks += chain_count(atomic_load_explicit(&arena_slot(arena, slot)->limbo[age].chain, memory_order_relaxed));
}
