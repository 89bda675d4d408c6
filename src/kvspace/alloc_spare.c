/* What the space holds and does not use: its figures, and the memory that lies in the slots of those who left (alloc.h).
 * Relies on alloc_parts.h, party.h. Promises: figures need no lock and are exact when nobody else is at work; who dies while
 * it empties another's slot leaves it ACTIVE, so that recovery finds it. */
#include "kvspace/alloc_parts.h"
#include "kvspace/fault.h"
#include "kvspace/pages.h"
#include "kvspace/party.h"

#include <stdlib.h>

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

uint32_t alloc_slab_blocks(const struct arena *arena, uint64_t page) {
    uint64_t head = page_get(arena, page);
    uint32_t bytes = class_block_bytes(page_class(head));
    uint32_t have = (uint32_t)((uint64_t)page_run(head) * FORMAT_PAGE / bytes);
    uint32_t most = class_slab_pages(page_class(head)) * FORMAT_PAGE / bytes;
    return have < most ? have : most;
}

void alloc_batch_close(struct arena *arena, unsigned class, ref_t head, uint32_t count) {
    struct class_pool *pool = &arena->header->class[class];
    _Atomic uint32_t *next = alloc_batch_next(arena, head, class);
    atomic_store_explicit(next + 1, count, memory_order_release);
    atomic_store_explicit(next, atomic_load_explicit(&pool->batches, memory_order_acquire), memory_order_release);
    atomic_store_explicit(&pool->batches, head, memory_order_release);
    atomic_fetch_add_explicit(&pool->pooled, count, memory_order_relaxed);
}

/* ---- slabs without a used block ---- */

/* Free blocks of one class, slab by slab; the class lock is held. */
struct slab_count {
    struct arena *arena;
    unsigned class;
    uint16_t *of_page; /* free blocks of the slab that begins there */
    uint64_t pages, empty;
    ref_t head; /* of the batch that is being made */
    uint32_t count;
};

static bool slab_of(const struct slab_count *slabs, ref_t ref, uint64_t *page) {
    uint64_t descriptor;
    if (alloc_class_of(slabs->arena, ref) != (int)slabs->class) return false;
    return pages_run_of(slabs->arena, ((uint64_t)ref * FORMAT_UNIT - slabs->arena->first) / FORMAT_PAGE, page, &descriptor) &&
           *page < slabs->pages;
}

static void count_block(struct slab_count *slabs, ref_t ref, uint64_t page) {
    (void)ref;
    slabs->empty += ++slabs->of_page[page] == alloc_slab_blocks(slabs->arena, page);
}

/* Blocks of slabs that stay go back, in new batches. */
static void return_block(struct slab_count *slabs, ref_t ref, uint64_t page) {
    if (slabs->of_page[page] == alloc_slab_blocks(slabs->arena, page)) return;
    atomic_store_explicit(alloc_link(slabs->arena, ref, slabs->class), slabs->head, memory_order_release);
    slabs->head = ref;
    if (++slabs->count < class_batch(slabs->class)) return;
    alloc_batch_close(slabs->arena, slabs->class, slabs->head, slabs->count);
    slabs->head = slabs->count = 0;
}

/* False: damage, for check. */
static bool each_block(struct slab_count *slabs, ref_t batch, void (*visit)(struct slab_count *slabs, ref_t ref, uint64_t page)) {
    uint64_t page, most = slabs->pages * (FORMAT_PAGE / FORMAT_UNIT);
    while (batch) {
        const _Atomic uint32_t *next = alloc_class_of(slabs->arena, batch) == (int)slabs->class ? alloc_batch_next(slabs->arena, batch, slabs->class) : NULL;
        if (!next) return false;
        uint32_t count = atomic_load_explicit(next + 1, memory_order_acquire);
        ref_t after = atomic_load_explicit(next, memory_order_acquire);
        for (ref_t ref = batch; count && most; count--, most--) {
            if (!slab_of(slabs, ref, &page)) return false;
            ref_t following = atomic_load_explicit(alloc_link(slabs->arena, ref, slabs->class), memory_order_acquire);
            visit(slabs, ref, page);
            ref = following;
        }
        if (!most) return false;
        batch = after;
    }
    return true;
}

/* Gives the runs back, so that other sizes may have them. Who dies in the middle leaves free blocks to check --repair. */
static void release_slabs(struct arena *arena, unsigned class) {
    struct class_pool *pool = &arena->header->class[class];
    struct slab_count slabs = {.arena = arena, .class = class};
    party_lock(arena, &pool->lock);
    slabs.pages = pages_high(arena);
    slabs.of_page = calloc(slabs.pages + 1, sizeof *slabs.of_page);
    ref_t batches = atomic_load_explicit(&pool->batches, memory_order_acquire);
    if (slabs.of_page && each_block(&slabs, batches, count_block) && slabs.empty) {
        atomic_store_explicit(&pool->batches, 0, memory_order_release);
        atomic_store_explicit(&pool->pooled, 0, memory_order_relaxed);
        (void)each_block(&slabs, batches, return_block);
        if (slabs.head) alloc_batch_close(arena, class, slabs.head, slabs.count);
        for (uint64_t page = 0; page < slabs.pages; page++) {
            uint64_t descriptor = page_get(arena, page);
            if (!slabs.of_page[page] || page_kind(descriptor) != PAGE_SLAB || slabs.of_page[page] != alloc_slab_blocks(arena, page)) continue;
            atomic_fetch_sub_explicit(&pool->slabs, 1, memory_order_relaxed);
            pages_give(arena, page, NULL);
        }
    }
    party_unlock(arena, &pool->lock);
    free(slabs.of_page);
}

void alloc_scavenge(struct arena *arena) {
    if (!arena->held_count && !arena->recovering) party_recover_all(arena);
    for (unsigned i = 0; i < 2 && party_advance(arena); i++) {}
    alloc_drain(arena, UINT32_MAX);
    alloc_flush_caches(arena);
    uint32_t high = header_slots(arena->header);
    for (uint32_t slot = 0; slot < high; slot++) {
        if (slot == arena->slot || slot == arena->own_slot || platform_lock_try(arena->fd, FORMAT_LOCK_BASE + slot)) continue;
        empty_slot(arena, slot);
        platform_lock_drop(arena->fd, FORMAT_LOCK_BASE + slot);
    }
    for (unsigned class = 0; class < CLASS_NODE; class++) release_slabs(arena, class); /* the memory of nodes stays theirs */
}

static uint64_t chain_total(const struct class_cache *cache) {
    return (uint64_t)chain_count(atomic_load_explicit(&cache->active, memory_order_relaxed)) +
           chain_count(atomic_load_explicit(&cache->spare, memory_order_relaxed));
}

void alloc_figures(const struct arena *arena, struct alloc_figures *out) {
    const struct space_header *header = arena->header;
    uint32_t high = header_slots(arena->header);
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
