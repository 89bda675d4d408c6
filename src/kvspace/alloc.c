/* The allocator (alloc.h): classes, caches, fresh and stale lists, limbo.
 *
 * A chain is a 64-bit word {head, count} in the owner's slot, so it changes by one store. A pool is a list of batches; a
 * batch moves between a cache and the pool as a whole, by two stores under the class lock, and recovery can tell by the heads
 * alone which of them were done (alloc_settle_lock). Relies on pages.c for runs, on party.h for locks and epochs.
 * Promises: killed anywhere, every block is in one list, or is named in the slot, or is linked. */
#include "kvspace/alloc.h"
#include "kvspace/alloc_parts.h"
#include "kvspace/fault.h"
#include "kvspace/pages.h"
#include "kvspace/party.h"

#include <string.h>

enum { SMALL_MOST = 1024, CLASS_MOST = 32768, DRAIN_PER_RETIRE = 8, RETIRES_PER_ADVANCE = 64 };

/* ---- geometry ---- */

static const uint16_t class_sizes[CLASS_COUNT] = {
    16,   32,   48,   64,   128,  192,  256,  320,  384,  448,   512,   640,   768,   896,   1024,  1280,  1536, 1792,
    2048, 2560, 3072, 3584, 4096, 5120, 6144, 7168, 8192, 10240, 12288, 14336, 16384, 20480, 24576, 28672, 32768, 64};

uint32_t class_block_bytes(unsigned class) { return class < CLASS_COUNT ? class_sizes[class] : 0; }

uint32_t class_slab_pages(unsigned class) {
    uint32_t bytes = class_sizes[class];
    if (bytes <= 4096) return 16;
    return (bytes <= 8192 ? 8 : 4) * bytes / FORMAT_PAGE;
}

uint32_t class_batch(unsigned class) {
    uint32_t batch = 16384 / class_sizes[class];
    return batch > 64 ? 64 : batch ? batch : 1;
}

static unsigned class_for(uint64_t bytes) {
    if (bytes <= 64) return bytes <= 16 ? 0 : (unsigned)((bytes - 1) / 16);
    if (bytes <= 256) return (unsigned)(3 + (bytes - 1) / 64);
    unsigned octave = 63 - (unsigned)__builtin_clzll(bytes - 1); /* 2^octave < bytes ≤ 2^(octave+1) */
    return 7 + (octave - 8) * 4 + (unsigned)((bytes - 1 - (UINT64_C(1) << octave)) >> (octave - 2));
}

int alloc_class_of(const struct arena *arena, ref_t ref) {
    uint64_t at = (uint64_t)ref * FORMAT_UNIT, first, descriptor;
    if (at < arena->first || !pages_run_of(arena, (at - arena->first) / FORMAT_PAGE, &first, &descriptor)) return -1;
    uint64_t inside = at - arena->first - first * FORMAT_PAGE;
    if (page_kind(descriptor) == PAGE_BIG) return inside ? -1 : CLASS_COUNT;
    unsigned class = page_class(descriptor);
    if (class >= CLASS_COUNT) return -1;
    uint32_t bytes = class_sizes[class];
    return inside % bytes == 0 && inside + bytes <= (uint64_t)page_run(descriptor) * FORMAT_PAGE ? (int)class : -1;
}

uint64_t alloc_bytes(const struct arena *arena, ref_t ref) {
    int class = alloc_class_of(arena, ref);
    if (class < 0) return 0;
    if (class < CLASS_COUNT) return class_sizes[class];
    return (uint64_t)page_run(page_get(arena, ((uint64_t)ref * FORMAT_UNIT - arena->first) / FORMAT_PAGE)) * FORMAT_PAGE;
}

static _Atomic uint32_t *word_at(const struct arena *arena, ref_t ref, unsigned byte) {
    unsigned char *at = arena_at(arena, ref, byte < 16 ? 16 : 64);
    return at ? (_Atomic uint32_t *)(void *)(at + byte) : NULL;
}
_Atomic uint32_t *alloc_link(const struct arena *arena, ref_t ref, unsigned class) {
    return word_at(arena, ref, class_link_at(class));
}
_Atomic uint32_t *alloc_batch_next(const struct arena *arena, ref_t ref, unsigned class) {
    return word_at(arena, ref, class == CLASS_NODE ? 48 : 8); /* the count is the word behind it */
}

static inline uint64_t get64(const _Atomic uint64_t *word) { return atomic_load_explicit(word, memory_order_acquire); }
static inline uint32_t get32(const _Atomic uint32_t *word) { return atomic_load_explicit(word, memory_order_acquire); }
/* Release, so that neither the compiler nor the machine lets a later store of the protocol overtake an earlier one. */
static inline void put64(_Atomic uint64_t *word, uint64_t value) { atomic_store_explicit(word, value, memory_order_release); }
static inline void put32(_Atomic uint32_t *word, uint32_t value) { atomic_store_explicit(word, value, memory_order_release); }

/* ---- caches and pools ---- */

/* The class lock is held: the spare batch goes to the pool. */
static void pool_put(struct arena *arena, unsigned class, _Atomic uint64_t *cache) {
    struct class_pool *pool = &arena->header->class[class];
    uint64_t chain = get64(cache);
    _Atomic uint32_t *next = alloc_batch_next(arena, chain_head(chain), class);
    if (!next) { /* damage: what hangs there is lost until check --repair */
        put64(cache, 0);
        return;
    }
    put32(next + 1, chain_count(chain));
    put32(next, get32(&pool->batches));
    FAULT_STEP(); /* killed here: the batch is still the cache's */
    put32(&pool->batches, chain_head(chain));
    FAULT_STEP(); /* killed here: recovery sees the same head twice and empties the cache */
    put64(cache, 0);
    atomic_fetch_add_explicit(&pool->pooled, chain_count(chain), memory_order_relaxed);
}

/* The class lock is held and the active cache is empty: a batch for it, if the pool has one. */
static bool pool_get(struct arena *arena, unsigned class, struct class_cache *cache) {
    struct class_pool *pool = &arena->header->class[class];
    uint32_t head = get32(&pool->batches);
    _Atomic uint32_t *next = head ? alloc_batch_next(arena, head, class) : NULL;
    if (!next) {
        if (head) put32(&pool->batches, 0); /* damage */
        return false;
    }
    uint32_t count = get32(next + 1);
    put64(&cache->active, chain_pack(head, count));
    FAULT_STEP(); /* killed here: the same head twice; recovery empties the cache, the pool keeps the batch */
    put32(&pool->batches, get32(next));
    atomic_fetch_sub_explicit(&pool->pooled, count, memory_order_relaxed);
    return true;
}

/* The class lock is held: cuts a batch off the slab that is being cut. */
static bool slab_cut(struct arena *arena, unsigned class, struct class_cache *cache) {
    struct class_pool *pool = &arena->header->class[class];
    uint64_t fresh = get64(&pool->fresh);
    uint32_t left = chain_count(fresh), units = class_sizes[class] / FORMAT_UNIT;
    uint32_t count = left < class_batch(class) ? left : class_batch(class);
    ref_t first = chain_head(fresh);
    if (!count || !arena_at(arena, first, (uint64_t)count * class_sizes[class])) return false;
    for (uint32_t i = 0; i < count; i++)
        put32(alloc_link(arena, first + i * units, class), i + 1 < count ? first + (i + 1) * units : 0);
    put64(&cache->active, chain_pack(first, count));
    FAULT_STEP(); /* killed here: cache and slab begin with the same block; recovery empties the cache */
    put64(&pool->fresh, left == count ? 0 : chain_pack(first + count * units, left - count));
    return true;
}

static int slab_make(struct arena *arena, unsigned class) {
    struct class_pool *pool = &arena->header->class[class];
    uint64_t page = 0, pages = class_slab_pages(class);
    party_lock(arena, &arena->header->page_lock);
    int rc = pages_take(arena, PAGE_SLAB, class, pages, &page);
    if (!rc) {
        put64(&pool->fresh, chain_pack(page_ref(arena, page), (uint32_t)(pages * FORMAT_PAGE / class_sizes[class])));
        FAULT_STEP(); /* killed here: recovery of `run` sees that the pool names the slab */
        atomic_fetch_add_explicit(&pool->slabs, 1, memory_order_relaxed);
        put32(&arena->self->run, 0);
    }
    party_unlock(arena, &arena->header->page_lock);
    return rc;
}

static int refill_locked(struct arena *arena, unsigned class, struct class_cache *cache) {
    struct class_pool *pool = &arena->header->class[class];
    int rc = 0;
    party_lock(arena, &pool->lock);
    if (!pool_get(arena, class, cache) && !slab_cut(arena, class, cache)) {
        rc = slab_make(arena, class);
        if (!rc && !slab_cut(arena, class, cache)) rc = arena_fail(arena, KVSPACE_EDAMAGED, "a slab outside of the space");
    }
    party_unlock(arena, &pool->lock);
    return rc;
}

static int refill(struct arena *arena, unsigned class) {
    struct class_cache *cache = &arena->self->cache[class];
    uint64_t spare = get64(&cache->spare);
    if (chain_head(spare)) {
        put64(&cache->active, spare);
        FAULT_STEP(); /* killed here: active and spare are the same; recovery empties one */
        put64(&cache->spare, 0);
        return 0;
    }
    int rc = refill_locked(arena, class, cache);
    if (rc != KVSPACE_EFULL && rc != KVSPACE_ENOSPC) return rc;
    char message[sizeof arena->message];
    memcpy(message, arena->message, sizeof message);
    alloc_scavenge(arena);
    if (chain_head(get64(&cache->active))) return 0;
    rc = refill_locked(arena, class, cache);
    if (rc) memcpy(arena->message, message, sizeof message);
    return rc;
}

/* A free block that `source` names goes to the active cache; *source is cleared. */
static void cache_put(struct arena *arena, unsigned class, ref_t ref, _Atomic uint32_t *source) {
    struct class_cache *cache = &arena->self->cache[class];
    _Atomic uint32_t *link = alloc_link(arena, ref, class);
    if (chain_count(get64(&cache->active)) >= class_batch(class)) {
        if (chain_head(get64(&cache->spare))) {
            struct class_pool *pool = &arena->header->class[class];
            party_lock(arena, &pool->lock);
            pool_put(arena, class, &cache->spare);
            party_unlock(arena, &pool->lock);
        }
        put64(&cache->spare, get64(&cache->active));
        FAULT_STEP();
        put64(&cache->active, 0);
        FAULT_STEP();
    }
    uint64_t active = get64(&cache->active);
    if (link) {
        put32(link, chain_head(active));
        FAULT_STEP(); /* killed here: the source names it */
        put64(&cache->active, chain_pack(ref, chain_count(active) + 1));
        FAULT_STEP(); /* killed here: it heads the cache, recovery clears the source */
    }
    put32(source, 0);
}

/* A block that is named by `source` and that nobody uses becomes free. */
static void release(struct arena *arena, ref_t ref, _Atomic uint32_t *source) {
    int class = alloc_class_of(arena, ref);
    if (class == CLASS_COUNT) pages_give(arena, ((uint64_t)ref * FORMAT_UNIT - arena->first) / FORMAT_PAGE, source);
    else if (class >= 0) cache_put(arena, (unsigned)class, ref, source);
    else put32(source, 0); /* damage: leave it to check */
}

void alloc_flush_caches(struct arena *arena) {
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        struct class_cache *cache = &arena->self->cache[class];
        bool active = chain_head(get64(&cache->active)), spare = chain_head(get64(&cache->spare));
        if (!active && !spare) continue;
        struct class_pool *pool = &arena->header->class[class];
        party_lock(arena, &pool->lock);
        if (active) pool_put(arena, class, &cache->active);
        if (spare) pool_put(arena, class, &cache->spare);
        party_unlock(arena, &pool->lock);
    }
}

/* ---- taking ---- */

static _Atomic uint32_t *empty_place(_Atomic uint32_t *list, unsigned most) {
    for (unsigned i = 0; i < most; i++)
        if (!atomic_load_explicit(&list[i], memory_order_relaxed)) return &list[i];
    return NULL;
}

static int take_class(struct arena *arena, unsigned class, ref_t *out) {
    struct class_cache *cache = &arena->self->cache[class];
    _Atomic uint32_t *fresh = empty_place(arena->self->fresh, PARTY_FRESH_MAX);
    if (!fresh) return arena_fail(arena, KVSPACE_ELIMIT, "an operation holds more than %u fresh blocks", (unsigned)PARTY_FRESH_MAX);
    uint64_t active = get64(&cache->active);
    if (!chain_head(active)) {
        int rc = refill(arena, class);
        if (rc) return rc;
        active = get64(&cache->active);
    }
    ref_t ref = chain_head(active);
    _Atomic uint32_t *link = alloc_link(arena, ref, class);
    if (!link) {
        put64(&cache->active, 0);
        return arena_fail(arena, KVSPACE_EDAMAGED, "a free list leads out of the space");
    }
    ref_t next = get32(link);
    put32(fresh, ref);
    FAULT_STEP(); /* killed here: it heads the cache still, recovery clears the name */
    put64(&cache->active, next ? chain_pack(next, chain_count(active) - 1) : 0);
    FAULT_STEP(); /* killed here: fresh, recovery gives it back unless the operation has happened */
    *out = ref;
    return 0;
}

static int take_run_locked(struct arena *arena, uint64_t pages, _Atomic uint32_t *fresh) {
    uint64_t page;
    party_lock(arena, &arena->header->page_lock);
    int rc = pages_take(arena, PAGE_BIG, 0, pages, &page);
    if (!rc) {
        put32(fresh, page_ref(arena, page));
        FAULT_STEP();
        put32(&arena->self->run, 0);
    }
    party_unlock(arena, &arena->header->page_lock);
    return rc;
}

static int take_run(struct arena *arena, uint64_t bytes, ref_t *out) {
    uint64_t pages = bytes / FORMAT_PAGE + (bytes % FORMAT_PAGE != 0);
    _Atomic uint32_t *fresh = empty_place(arena->self->fresh, PARTY_FRESH_MAX);
    if (!fresh) return arena_fail(arena, KVSPACE_ELIMIT, "an operation holds more than %u fresh blocks", (unsigned)PARTY_FRESH_MAX);
    if (pages > arena_page_limit(arena))
        return arena_fail(arena, KVSPACE_EFULL, "%llu bytes are more than the space may ever have (%llu)",
                          (unsigned long long)bytes, (unsigned long long)arena->header->limit_bytes);
    int rc = take_run_locked(arena, pages, fresh);
    if (rc == KVSPACE_EFULL || rc == KVSPACE_ENOSPC) {
        char message[sizeof arena->message];
        memcpy(message, arena->message, sizeof message);
        alloc_scavenge(arena);
        rc = take_run_locked(arena, pages, fresh);
        if (rc) memcpy(arena->message, message, sizeof message);
    }
    if (!rc) *out = get32(fresh);
    return rc;
}

int alloc_take(struct arena *arena, uint64_t bytes, ref_t *out) {
    if (FAULT_HITS(FAULT_ALLOC)) return arena_fail(arena, KVSPACE_ENOSPC, "no room on the device (a fault on purpose)");
    if (bytes > CLASS_MOST) return take_run(arena, bytes, out);
    return take_class(arena, class_for(bytes), out);
}

int alloc_take_node(struct arena *arena, ref_t *out) {
    if (FAULT_HITS(FAULT_ALLOC)) return arena_fail(arena, KVSPACE_ENOSPC, "no room on the device (a fault on purpose)");
    int rc = take_class(arena, CLASS_NODE, out);
    if (rc) return rc;
    /* Words 40 to 63 held links and counts of free lists; slots read only ver and the cells. */
    for (unsigned byte = 40; byte < 64; byte += 4) atomic_store_explicit(word_at(arena, *out, byte), 0, memory_order_relaxed);
    return 0;
}

void alloc_keep(struct arena *arena, ref_t ref) {
    for (unsigned i = 0; i < PARTY_FRESH_MAX; i++)
        if (get32(&arena->self->fresh[i]) == ref) {
            put32(&arena->self->fresh[i], 0);
            FAULT_STEP();
            return;
        }
}

void alloc_keep_all(struct arena *arena) {
    for (unsigned i = 0; i < PARTY_FRESH_MAX; i++)
        if (get32(&arena->self->fresh[i])) {
            put32(&arena->self->fresh[i], 0);
            FAULT_STEP();
        }
}

void alloc_give(struct arena *arena, ref_t ref) {
    for (unsigned i = 0; i < PARTY_FRESH_MAX; i++)
        if (get32(&arena->self->fresh[i]) == ref) {
            release(arena, ref, &arena->self->fresh[i]);
            return;
        }
}

void alloc_give_all(struct arena *arena) {
    for (unsigned i = 0; i < PARTY_FRESH_MAX; i++) {
        ref_t ref = get32(&arena->self->fresh[i]);
        if (ref) release(arena, ref, &arena->self->fresh[i]);
    }
}

/* ---- retiring ---- */

static bool heads_limbo(const struct arena *arena, ref_t ref) {
    for (unsigned age = 0; age < LIMBO_AGES; age++)
        if (chain_head(get64(&arena->self->limbo[age].chain)) == ref) return true;
    return false;
}

/* Frees up to `most` blocks of one age. */
static uint32_t drain_age(struct arena *arena, unsigned age, uint32_t most) {
    _Atomic uint64_t *list = &arena->self->limbo[age].chain;
    uint32_t done = 0;
    for (; done < most; done++) {
        uint64_t chain = get64(list);
        ref_t ref = chain_head(chain);
        if (!ref) break;
        int class = alloc_class_of(arena, ref);
        _Atomic uint32_t *link = class < 0 ? NULL : alloc_link(arena, ref, (unsigned)class);
        if (!link) { /* damage: the rest is lost until check --repair */
            put64(list, 0);
            break;
        }
        ref_t next = get32(link);
        put32(&arena->self->moving, ref);
        FAULT_STEP(); /* killed here: it heads limbo still, recovery clears the name */
        put64(list, next ? chain_pack(next, chain_count(chain) - 1) : 0);
        FAULT_STEP(); /* killed here: `moving` names it, recovery frees it */
        release(arena, ref, &arena->self->moving);
    }
    return done;
}

void alloc_drain(struct arena *arena, uint32_t most) {
    uint64_t now = get64(&arena->header->epoch);
    for (unsigned age = 0; age < LIMBO_AGES && most; age++)
        if (get64(&arena->self->limbo[age].epoch) + 2 <= now) most -= drain_age(arena, age, most);
}

/* Unlinked memory goes to the limbo of this epoch; *source, which names it for recovery, is cleared. */
static void limbo_put(struct arena *arena, ref_t ref, _Atomic uint32_t *source) {
    /* Sequentially consistent: the epoch is read after the store that unlinked. */
    atomic_thread_fence(memory_order_seq_cst);
    uint64_t now = atomic_load_explicit(&arena->header->epoch, memory_order_seq_cst);
    unsigned age = (unsigned)(now % LIMBO_AGES);
    _Atomic uint64_t *list = &arena->self->limbo[age].chain, *epoch = &arena->self->limbo[age].epoch;
    if (get64(epoch) != now) {
        (void)drain_age(arena, age, UINT32_MAX); /* of three epochs ago, at least */
        put64(epoch, now);
    }
    int class = alloc_class_of(arena, ref);
    _Atomic uint32_t *link = class < 0 ? NULL : alloc_link(arena, ref, (unsigned)class);
    if (link) {
        uint64_t chain = get64(list);
        put32(link, chain_head(chain));
        FAULT_STEP(); /* killed here: the source names it */
        put64(list, chain_pack(ref, chain_count(chain) + 1));
        FAULT_STEP(); /* killed here: it heads limbo, recovery clears the source */
    }
    put32(source, 0);
    FAULT_STEP();
    /* A big block is worth the epoch of its own: sixty-four that wait would be a space full of what nobody reads. */
    if (class == CLASS_COUNT || ++arena->retires % RETIRES_PER_ADVANCE == 0) (void)party_advance(arena);
    alloc_drain(arena, DRAIN_PER_RETIRE);
}

void alloc_stale(struct arena *arena, ref_t ref) {
    _Atomic uint32_t *place = empty_place(arena->self->stale, PARTY_STALE_MAX);
    assert(place);
    if (place) put32(place, ref); /* without a place: a leak, found by check */
    FAULT_STEP();
}

void alloc_retire_stale(struct arena *arena) {
    for (unsigned i = 0; i < PARTY_STALE_MAX; i++) {
        ref_t ref = get32(&arena->self->stale[i]);
        if (ref) limbo_put(arena, ref, &arena->self->stale[i]);
    }
}

void alloc_stale_forget(struct arena *arena) {
    for (unsigned i = 0; i < PARTY_STALE_MAX; i++) put32(&arena->self->stale[i], 0);
}

void alloc_retire(struct arena *arena, ref_t ref) {
    _Atomic uint32_t *place = empty_place(arena->self->stale, PARTY_STALE_MAX);
    _Atomic uint32_t none = 0;
    if (!place) place = &none;
    put32(place, ref);
    limbo_put(arena, ref, place);
}

/* ---- counted blocks ---- */

static _Atomic uint32_t *refs_of(const struct arena *arena, ref_t block) { return word_at(arena, block, 0); }

bool block_ref(struct arena *arena, ref_t block) {
    _Atomic uint32_t *refs = refs_of(arena, block);
    uint32_t count = refs ? atomic_load_explicit(refs, memory_order_relaxed) : 0;
    do {
        if (!count || count == UINT32_MAX) return false;
        /* Acquire: the block's content, complete before its first reference was published. */
    } while (!atomic_compare_exchange_weak_explicit(refs, &count, count + 1, memory_order_acquire, memory_order_relaxed));
    FAULT_STEP(); /* killed here: one reference too many, for check --repair */
    return true;
}

/* One reference less; drop[i] names the block, drop_seen[i] the count before: with a count of 1 the two tell recovery
 * whether it happened (the block stays at 0 until it is in limbo); with more they do not, and it is left undone. */
static void drop_one(struct arena *arena, unsigned i) {
    struct party_slot *self = arena->self;
    ref_t block = get32(&self->drop[i]);
    _Atomic uint32_t *refs = refs_of(arena, block);
    uint32_t count = refs ? atomic_load_explicit(refs, memory_order_relaxed) : 0;
    bool last = false;
    while (count) {
        put32(&self->drop_seen[i], count);
        FAULT_STEP();
        /* Release: what this owner read or wrote comes before the count. Acquire: the last one sees all of theirs. */
        if (!atomic_compare_exchange_strong_explicit(refs, &count, count - 1, memory_order_acq_rel, memory_order_relaxed)) continue;
        FAULT_STEP();
        last = count == 1;
        break;
    }
    if (last) limbo_put(arena, block, &self->drop[i]);
    else put32(&self->drop[i], 0);
    FAULT_STEP();
    put32(&self->drop_seen[i], 0);
}

static unsigned drop_name(struct arena *arena, ref_t block) {
    for (unsigned i = 0; i < PARTY_DROP_MAX; i++)
        if (!get32(&arena->self->drop[i])) {
            put32(&arena->self->drop_seen[i], 0);
            put32(&arena->self->drop[i], block);
            FAULT_STEP();
            return i;
        }
    return PARTY_DROP_MAX;
}

void block_unref(struct arena *arena, ref_t block) {
    unsigned i = drop_name(arena, block);
    assert(i < PARTY_DROP_MAX);
    if (i < PARTY_DROP_MAX) drop_one(arena, i);
}

void block_drop_later(struct arena *arena, ref_t block) {
    unsigned i = drop_name(arena, block);
    assert(i < PARTY_DROP_MAX);
    (void)i;
}

void block_drop_named(struct arena *arena) {
    for (unsigned i = 0; i < PARTY_DROP_MAX; i++)
        if (get32(&arena->self->drop[i])) drop_one(arena, i);
}

void block_drop_forget(struct arena *arena) {
    for (unsigned i = 0; i < PARTY_DROP_MAX; i++) put32(&arena->self->drop[i], 0);
}

/* ---- settling the slot of the dead (alloc_parts.h) ---- */

void alloc_settle_lock(struct arena *arena, uint64_t lock_at) {
    struct space_header *header = arena->header;
    if (lock_at == (uint64_t)((unsigned char *)&header->page_lock - arena->base)) {
        pages_settle(arena);
        return;
    }
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        struct class_pool *pool = &header->class[class];
        if (lock_at != (uint64_t)((unsigned char *)&pool->lock - arena->base)) continue;
        struct class_cache *cache = &arena->self->cache[class];
        uint32_t batch = get32(&pool->batches), cut = chain_head(get64(&pool->fresh));
        ref_t active = chain_head(get64(&cache->active)), spare = chain_head(get64(&cache->spare));
        if (active && (active == batch || active == cut)) put64(&cache->active, 0);
        if (spare && spare == batch) put64(&cache->spare, 0);
        FAULT_STEP();
    }
}

/* The block is on the dead one's list already, under its name still: between two lists there is at most one. */
static void settle_name(struct arena *arena, _Atomic uint32_t *name, bool may_be_free, bool may_be_limbo) {
    ref_t ref = get32(name);
    int class = ref ? alloc_class_of(arena, ref) : -1;
    if (ref && may_be_free && class >= 0 && class < CLASS_COUNT &&
        chain_head(get64(&arena->self->cache[class].active)) == ref)
        put32(name, 0);
    else if (ref && may_be_limbo && heads_limbo(arena, ref)) put32(name, 0);
    FAULT_STEP();
}

static void settle_drop(struct arena *arena, unsigned i, enum party_outcome outcome) {
    struct party_slot *self = arena->self;
    ref_t block = get32(&self->drop[i]);
    if (!block) return;
    uint32_t seen = get32(&self->drop_seen[i]);
    _Atomic uint32_t *refs = refs_of(arena, block);
    uint32_t count = refs ? get32(refs) : 0;
    if (!seen && outcome == OUTCOME_DONE && count) drop_one(arena, i);
    else if (seen == 1 && count) drop_one(arena, i); /* at 0 it would have stayed */
    else if (seen == 1 && refs) limbo_put(arena, block, &self->drop[i]);
    else put32(&self->drop[i], 0);
    put32(&self->drop_seen[i], 0);
}

void alloc_settle_lists(struct arena *arena, enum party_outcome outcome) {
    struct party_slot *self = arena->self;
    for (unsigned class = 0; class < CLASS_COUNT; class++) { /* active became spare, or the other way round */
        uint64_t active = get64(&self->cache[class].active);
        if (active && chain_head(active) == chain_head(get64(&self->cache[class].spare))) put64(&self->cache[class].active, 0);
    }
    /* First whatever is on its new list already: the lists' heads tell, until anything else is put there. */
    settle_name(arena, &self->moving, true, true);
    for (unsigned i = 0; i < PARTY_FRESH_MAX; i++) settle_name(arena, &self->fresh[i], true, false);
    for (unsigned i = 0; i < PARTY_STALE_MAX; i++) settle_name(arena, &self->stale[i], false, true);
    for (unsigned i = 0; i < PARTY_DROP_MAX; i++) settle_name(arena, &self->drop[i], false, true);
    ref_t moving = get32(&self->moving);
    if (moving) release(arena, moving, &self->moving);
    if (outcome == OUTCOME_DONE) alloc_keep_all(arena);
    else alloc_give_all(arena);
    if (outcome != OUTCOME_DONE) alloc_stale_forget(arena);
    alloc_retire_stale(arena);
    for (unsigned i = 0; i < PARTY_DROP_MAX; i++) settle_drop(arena, i, outcome);
    block_unpin_all(arena);
}
