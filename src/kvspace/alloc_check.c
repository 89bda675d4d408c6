/* The check of the memory (alloc.h): the chain of runs and its index, the free lists of pools and slots, then what the tree claims
 * against what is there. With repair the lists are not mended but made anew from the claims: what nobody claimed is free.
 * Relies on pages.h, alloc_parts.h. Promises: nothing is followed that has not been checked; every walk ends, since a
 * block is put on a list at most once; without repair not a byte of the space is changed. */
#include "kvspace/alloc_parts.h"
#include "kvspace/pages.h"
#include "kvspace/party.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum mark { MARK_NONE, MARK_FREE, MARK_RETIRED, MARK_CLAIMED };
enum { UNITS_PER_PAGE = FORMAT_PAGE / FORMAT_UNIT, PUNCH_LEAST = 16 };

static inline uint32_t get32(const _Atomic uint32_t *word) { return atomic_load_explicit(word, memory_order_acquire); }
static inline uint64_t get64(const _Atomic uint64_t *word) { return atomic_load_explicit(word, memory_order_acquire); }
static inline void put32(_Atomic uint32_t *word, uint32_t value) { atomic_store_explicit(word, value, memory_order_release); }
static inline void put64(_Atomic uint64_t *word, uint64_t value) { atomic_store_explicit(word, value, memory_order_release); }

__attribute__((format(printf, 2, 3))) static void fault(struct alloc_check *check, const char *form, ...) {
    char text[200];
    va_list arguments;
    va_start(arguments, form);
    (void)vsnprintf(text, sizeof text, form, arguments);
    va_end(arguments);
    check->errors++;
    if (check->report) check->report(check->context, text);
}

/* ---- marks ---- */

static uint64_t unit_of(const struct alloc_check *check, ref_t ref) { return ref - check->arena->first / FORMAT_UNIT; }

static enum mark mark_get(const struct alloc_check *check, ref_t ref) {
    uint64_t unit = unit_of(check, ref);
    return (enum mark)(check->marks[unit / 4] >> (unit % 4 * 2) & 3);
}

static void mark_set(struct alloc_check *check, ref_t ref, enum mark mark) {
    uint64_t unit = unit_of(check, ref);
    unsigned shift = (unsigned)(unit % 4 * 2);
    check->marks[unit / 4] = (unsigned char)((check->marks[unit / 4] & ~(3u << shift)) | (unsigned)mark << shift);
}

static bool is_head(const struct alloc_check *check, uint64_t page) { return check->heads[page / 8] >> (page % 8) & 1; }

/* Class of the block in a run that the chain really has; -1: none. */
static int class_at(const struct alloc_check *check, ref_t ref) {
    uint64_t at = (uint64_t)ref * FORMAT_UNIT, first, descriptor;
    if (at < check->arena->first) return -1;
    uint64_t page = (at - check->arena->first) / FORMAT_PAGE;
    if (page >= check->pages || !pages_run_of(check->arena, page, &first, &descriptor)) return -1;
    return is_head(check, first) ? alloc_class_of(check->arena, ref) : -1;
}

/* ---- runs ---- */

static bool head_is_whole(const struct arena *arena, uint64_t page, uint64_t high) {
    uint64_t descriptor = page_get(arena, page);
    unsigned kind = page_kind(descriptor);
    if (kind != PAGE_FREE && kind != PAGE_BIG && (kind != PAGE_SLAB || page_class(descriptor) >= CLASS_COUNT)) return false;
    return page_run(descriptor) && page_run(descriptor) <= high - page;
}

static void put_page(struct arena *arena, uint64_t page, unsigned kind, unsigned class, uint64_t run) {
    put64(&arena->pages[page], page_pack(kind, class, (uint32_t)run));
}

/* The head at `page` is lost: makes one from the run's tail, or up to the next head. A run without parts becomes a big one, which
 * is freed if nobody claims it. */
static void mend_head(struct arena *arena, uint64_t page, uint64_t high) {
    uint64_t run = 0, next = page + 1;
    for (uint64_t tail = page + 1; tail < high; tail++) {
        uint64_t descriptor = page_get(arena, tail);
        if (page_kind(descriptor) == PAGE_TAIL && page_run(descriptor) == tail - page + 1 &&
            (tail + 1 == high || head_is_whole(arena, tail + 1, high)))
            run = tail - page + 1;
    }
    while (!run && next < high && !head_is_whole(arena, next, high)) next++;
    if (!run) run = next - page;
    uint64_t part = run > 1 ? page_get(arena, page + 1) : 0;
    bool slab = page_kind(part) == PAGE_PART && page_run(part) == 1 && page_class(part) < CLASS_COUNT;
    put_page(arena, page, slab ? PAGE_SLAB : PAGE_BIG, slab ? page_class(part) : 0, run);
    if (run > 1) put_page(arena, page + run - 1, PAGE_TAIL, slab ? page_class(part) : 0, run);
}

/* The descriptors behind the head. */
static void check_parts(struct alloc_check *check, uint64_t page) {
    uint64_t head = page_get(check->arena, page), run = page_run(head), bad = 0;
    unsigned class = page_class(head);
    bool slab = page_kind(head) == PAGE_SLAB;
    for (uint64_t i = slab ? 1 : run - 1; i < run; i++) {
        uint64_t at = page_get(check->arena, page + i);
        bool last = i + 1 == run;
        if (!i || (last ? page_kind(at) == PAGE_TAIL && page_run(at) == run
                        : page_kind(at) == PAGE_PART && page_run(at) == i && page_class(at) == class))
            continue;
        bad++;
        if (check->repair) put_page(check->arena, page + i, last ? PAGE_TAIL : PAGE_PART, class, last ? run : i);
    }
    if (bad) fault(check, "pages: %llu descriptors of the run at page %llu are damaged", (unsigned long long)bad, (unsigned long long)page);
}

static void check_runs(struct alloc_check *check) {
    struct arena *arena = check->arena;
    uint64_t free_pages = 0, big_pages = 0;
    for (uint64_t page = 0; page < check->pages; page += page_run(page_get(arena, page))) {
        if (!head_is_whole(arena, page, check->pages)) {
            fault(check, "pages: the chain of runs breaks at page %llu", (unsigned long long)page);
            if (!check->repair) return;
            mend_head(arena, page, check->pages);
        }
        check->heads[page / 8] = (unsigned char)(check->heads[page / 8] | 1u << (page % 8));
        check_parts(check, page);
        uint64_t head = page_get(arena, page);
        if (page_kind(head) == PAGE_FREE) free_pages += page_run(head);
        if (page_kind(head) == PAGE_BIG) big_pages += page_run(head);
    }
    if (!pages_index_is_right(arena, check->heads)) fault(check, "pages: the index of free runs is wrong");
    if (free_pages != get64(&arena->header->free_pages) || big_pages != get64(&arena->header->big_pages))
        fault(check, "pages: the counts of free and of big pages are wrong");
}

/* ---- lists ---- */

/* One chain of free (class given) or retired blocks (class -1: any). */
static void mark_chain(struct alloc_check *check, int class, uint64_t chain, const char *where, uint32_t slot) {
    ref_t ref = chain_head(chain);
    for (uint32_t i = 0; i < chain_count(chain); i++) {
        int is = ref ? class_at(check, ref) : -1;
        if (is < 0 || (class >= 0 && is != class) || mark_get(check, ref) != MARK_NONE) {
            fault(check, "memory: %s of participant %u leads to block %u, which %s", where, slot, ref,
                  is < 0 || (class >= 0 && is != class) ? "is none of that list" : "is on a list already");
            return;
        }
        mark_set(check, ref, class >= 0 ? MARK_FREE : MARK_RETIRED);
        ref = get32(alloc_link(check->arena, ref, (unsigned)is));
    }
    if (ref) fault(check, "memory: %s of participant %u is longer than its count", where, slot);
}

static void check_pool(struct alloc_check *check, unsigned class) {
    struct arena *arena = check->arena;
    struct class_pool *pool = &arena->header->class[class];
    for (ref_t batch = get32(&pool->batches); batch;) {
        if (class_at(check, batch) != (int)class || mark_get(check, batch) != MARK_NONE) {
            fault(check, "memory: the pool of class %u leads to block %u, which is none of it or on a list already", class, batch);
            break;
        }
        const _Atomic uint32_t *next = alloc_batch_next(arena, batch, class);
        uint32_t count = get32(next + 1);
        if (!count) {
            fault(check, "memory: an empty batch in the pool of class %u", class);
            break;
        }
        ref_t after = get32(next);
        mark_chain(check, (int)class, chain_pack(batch, count), "a pool's batch", 0);
        batch = after;
    }
    uint64_t fresh = get64(&pool->fresh);
    uint32_t units = class_block_bytes(class) / FORMAT_UNIT;
    for (uint32_t i = 0; i < chain_count(fresh); i++) {
        uint64_t ref = (uint64_t)chain_head(fresh) + (uint64_t)i * units;
        if (ref > UINT32_MAX || class_at(check, (ref_t)ref) != (int)class || mark_get(check, (ref_t)ref) != MARK_NONE) {
            fault(check, "memory: the slab that class %u is cut from is damaged", class);
            break;
        }
        mark_set(check, (ref_t)ref, MARK_FREE);
    }
}

static uint32_t count_names(struct party_slot *slot, bool clear, bool with_pins) {
    struct {
        _Atomic uint32_t *words;
        unsigned count;
    } lists[] = {{&slot->moving, 1}, {&slot->run, 1}, {slot->fresh, PARTY_FRESH_MAX}, {slot->stale, PARTY_STALE_MAX},
                 {slot->drop, PARTY_DROP_MAX}, {&slot->intent.kind, 1}, {slot->pins, PARTY_PINS_MAX}, {&slot->pin_pages, 1}};
    uint32_t names = 0;
    for (unsigned i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (unsigned at = 0; at < lists[i].count; at++) {
            if (!with_pins && (lists[i].words == slot->pins || lists[i].words == &slot->pin_pages)) continue;
            names += get32(&lists[i].words[at]) != 0;
            if (clear) put32(&lists[i].words[at], 0);
        }
    for (unsigned i = 0; i < PARTY_HELD_MAX; i++) {
        names += get64(&slot->held[i]) != 0;
        if (clear) put64(&slot->held[i], 0);
    }
    return names;
}

static void check_slot(struct alloc_check *check, uint32_t number) {
    struct party_slot *slot = arena_slot(check->arena, number);
    _Atomic uint32_t *state = &check->arena->header->slot_state[number];
    bool own = number == check->arena->own_slot;
    if (get32(state) > PARTY_ACTIVE) {
        fault(check, "participant %u: its state is %u", number, get32(state));
        if (check->repair) put32(state, PARTY_FREE);
    }
    uint32_t names = count_names(slot, check->repair, !own || check->repair);
    if (names) fault(check, "participant %u: it names %u places although nothing is under way", number, names);
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        mark_chain(check, (int)class, get64(&slot->cache[class].active), "a cache", number);
        mark_chain(check, (int)class, get64(&slot->cache[class].spare), "a spare batch", number);
    }
    for (unsigned age = 0; age < LIMBO_AGES; age++) mark_chain(check, -1, get64(&slot->limbo[age].chain), "the retired list", number);
}

int alloc_check_begin(struct alloc_check *check) {
    check->pages = pages_high(check->arena);
    check->mark_bytes = check->pages * UNITS_PER_PAGE / 4;
    check->marks = calloc(check->mark_bytes + 1, 1);
    check->heads = calloc(check->pages / 8 + 1, 1);
    if (!check->marks || !check->heads) {
        free(check->marks);
        free(check->heads);
        return KVSPACE_ENOMEM;
    }
    check_runs(check);
    for (unsigned class = 0; class < CLASS_COUNT; class++) check_pool(check, class);
    uint32_t high = header_slots(check->arena->header);
    for (uint32_t slot = 0; slot < high; slot++) check_slot(check, slot);
    return 0;
}

int alloc_check_claim(struct alloc_check *check, ref_t ref, uint64_t bytes, bool is_node) {
    int class = ref ? class_at(check, ref) : -1;
    if (class < 0 || is_node != (class == CLASS_NODE) || alloc_bytes(check->arena, ref) < bytes) return KVSPACE_EDAMAGED;
    enum mark mark = mark_get(check, ref);
    if (mark == MARK_CLAIMED) return KVSPACE_EEXIST;
    if (mark != MARK_NONE)
        fault(check, "memory: block %u is in use and on a list of %s ones", ref, mark == MARK_FREE ? "free" : "retired");
    mark_set(check, ref, MARK_CLAIMED);
    return 0;
}

void alloc_check_unclaim(struct alloc_check *check, ref_t ref) { mark_set(check, ref, MARK_NONE); }

bool alloc_check_claimed(const struct alloc_check *check, ref_t ref) {
    return class_at(check, ref) >= 0 && mark_get(check, ref) == MARK_CLAIMED;
}

/* ---- the end ---- */

static ref_t slab_block(const struct arena *arena, uint64_t page, unsigned class, uint32_t at) {
    return page_ref(arena, page) + at * (class_block_bytes(class) / FORMAT_UNIT);
}

static void tell(struct alloc_check *check, enum mark mark, uint64_t bytes) {
    if (mark == MARK_NONE) {
        check->leaked_blocks++;
        check->leaked_bytes += bytes;
    } else if (mark == MARK_CLAIMED) check->used_blocks++;
    else check->free_blocks++;
}

static void count_run(struct alloc_check *check, uint64_t page) {
    uint64_t head = page_get(check->arena, page);
    unsigned class = page_class(head);
    if (page_kind(head) == PAGE_BIG)
        tell(check, mark_get(check, page_ref(check->arena, page)), (uint64_t)page_run(head) * FORMAT_PAGE);
    if (page_kind(head) != PAGE_SLAB) return;
    for (uint32_t i = 0; i < alloc_slab_blocks(check->arena, page); i++)
        tell(check, mark_get(check, slab_block(check->arena, page, class, i)), class_block_bytes(class));
}

static void empty_lists(struct arena *arena) {
    uint32_t high = header_slots(arena->header);
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        struct class_pool *pool = &arena->header->class[class];
        put32(&pool->lock, 0);
        put32(&pool->batches, 0);
        put64(&pool->fresh, 0);
        put64(&pool->slabs, 0);
        put64(&pool->pooled, 0);
    }
    for (uint32_t number = 0; number < high; number++) {
        struct party_slot *slot = arena_slot(arena, number);
        for (unsigned class = 0; class < CLASS_COUNT; class++) {
            put64(&slot->cache[class].active, 0);
            put64(&slot->cache[class].spare, 0);
        }
        for (unsigned age = 0; age < LIMBO_AGES; age++) put64(&slot->limbo[age].chain, 0);
    }
}

/* The free blocks of a slab become batches of the pool; a slab without used ones (but for nodes, whose memory stays theirs) goes. */
static void remake_slab(struct alloc_check *check, uint64_t page) {
    struct arena *arena = check->arena;
    unsigned class = page_class(page_get(arena, page));
    uint32_t blocks = alloc_slab_blocks(arena, page), used = 0, count = 0;
    ref_t head = 0;
    for (uint32_t i = 0; i < blocks; i++) used += mark_get(check, slab_block(arena, page, class, i)) == MARK_CLAIMED;
    if (!used && class != CLASS_NODE) {
        put_page(arena, page, PAGE_FREE, 0, page_run(page_get(arena, page)));
        return;
    }
    atomic_fetch_add_explicit(&arena->header->class[class].slabs, 1, memory_order_relaxed);
    for (uint32_t i = blocks; i-- > 0;) {
        ref_t ref = slab_block(arena, page, class, i);
        if (mark_get(check, ref) == MARK_CLAIMED) continue;
        put32(alloc_link(arena, ref, class), head);
        head = ref;
        if (++count < class_batch(class)) continue;
        alloc_batch_close(arena, class, head, count);
        head = 0;
        count = 0;
    }
    if (head) alloc_batch_close(arena, class, head, count);
}

static void remake_lists(struct alloc_check *check) {
    struct arena *arena = check->arena;
    empty_lists(arena); /* killed from here on: what was free is nobody's until the next repair */
    for (uint64_t page = 0; page < check->pages; page += page_run(page_get(arena, page))) {
        uint64_t head = page_get(arena, page);
        if (page_kind(head) == PAGE_SLAB) remake_slab(check, page);
        if (page_kind(head) == PAGE_BIG && mark_get(check, page_ref(arena, page)) != MARK_CLAIMED)
            put_page(arena, page, PAGE_FREE, 0, page_run(head));
    }
    party_lock(arena, &arena->header->page_lock);
    (void)pages_index(arena);
    party_unlock(arena, &arena->header->page_lock);
    for (uint64_t page = 0; page < check->pages; page += page_run(page_get(arena, page))) {
        uint64_t head = page_get(arena, page);
        if (page_kind(head) == PAGE_FREE && page_run(head) >= PUNCH_LEAST)
            (void)platform_file_punch(arena->fd, arena->first + page * FORMAT_PAGE, (uint64_t)page_run(head) * FORMAT_PAGE);
    }
}

void alloc_check_end(struct alloc_check *check) {
    for (uint64_t page = 0; page < check->pages && is_head(check, page); page += page_run(page_get(check->arena, page)))
        count_run(check, page);
    if (check->repair) remake_lists(check);
    free(check->marks);
    free(check->heads);
    check->marks = check->heads = NULL;
}

/* ---- while others work ---- */

/* The pool's lock is held. */
static void check_pool_shared(struct alloc_check *check, unsigned class) {
    struct arena *arena = check->arena;
    struct class_pool *pool = &arena->header->class[class];
    uint64_t most = pages_high(arena) * UNITS_PER_PAGE, seen = 0;
    for (ref_t batch = get32(&pool->batches); batch;) {
        const _Atomic uint32_t *next = alloc_class_of(arena, batch) == (int)class ? alloc_batch_next(arena, batch, class) : NULL;
        uint32_t count = next ? get32(next + 1) : 0, i = 0;
        ref_t ref = batch;
        for (; i < count && seen < most; i++, seen++) {
            if (alloc_class_of(arena, ref) != (int)class) break;
            ref = get32(alloc_link(arena, ref, class));
        }
        if (!count || i < count || ref) {
            fault(check, "memory: the pool of class %u is damaged at block %u", class, ref ? ref : batch);
            return;
        }
        batch = get32(next);
    }
}

int alloc_check_shared(struct alloc_check *check) {
    struct arena *arena = check->arena;
    party_lock(arena, &arena->header->page_lock);
    check->pages = pages_high(arena);
    check->heads = calloc(check->pages / 8 + 1, 1);
    if (check->heads) check_runs(check);
    party_unlock(arena, &arena->header->page_lock);
    if (!check->heads) return KVSPACE_ENOMEM;
    free(check->heads);
    check->heads = NULL;
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        party_lock(arena, &arena->header->class[class].lock);
        check_pool_shared(check, class);
        party_unlock(arena, &arena->header->class[class].lock);
    }
    return 0;
}
