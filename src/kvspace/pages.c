/* Page runs (pages.h). Under the page lock every change is: tail and remainder first, where nobody looks yet, then one
 * store of the head. Free runs of 16 pages and more are punched out of the file; the descriptors stay.
 * Relies on arena_grow for the file. Promises: killed anywhere, the chain of runs is whole. */
#include "kvspace/pages.h"
#include "kvspace/fault.h"
#include "kvspace/party.h"

enum { RUN_LEAST = 4, PUNCH_LEAST = 16, SCAN_MOST = 32, BIN_COUNT = 32 };

static void page_set(struct arena *arena, uint64_t page, uint64_t descriptor) {
    /* Release: what the descriptor covers (tails, remainders) is written before it. */
    atomic_store_explicit(&arena->pages[page], descriptor, memory_order_release);
}

static unsigned bin_of(uint64_t pages) {
    unsigned bin = 0;
    while (pages >>= 1) bin++;
    return bin < BIN_COUNT ? bin : BIN_COUNT - 1;
}

/* Links of a free run, in its second descriptor: previous and next as page + 1. Runs below RUN_LEAST are not indexed. */
static uint32_t link_next(const struct arena *arena, uint64_t page) { return (uint32_t)(page_get(arena, page + 1) >> 32); }
static uint32_t link_previous(const struct arena *arena, uint64_t page) { return (uint32_t)page_get(arena, page + 1); }
static void link_set(struct arena *arena, uint64_t page, uint32_t previous, uint32_t next) {
    page_set(arena, page + 1, (uint64_t)next << 32 | previous);
}

static bool is_free_run(const struct arena *arena, uint64_t page) {
    return page < pages_high(arena) && page_kind(page_get(arena, page)) == PAGE_FREE;
}

static void bin_add(struct arena *arena, uint64_t page, uint64_t pages) {
    if (pages < RUN_LEAST) return;
    _Atomic uint32_t *bin = &arena->header->bins[bin_of(pages)];
    uint32_t head = atomic_load_explicit(bin, memory_order_relaxed);
    if (head && !is_free_run(arena, head - 1)) head = 0; /* damaged: the index is not the truth */
    link_set(arena, page, 0, head);
    if (head) link_set(arena, head - 1, (uint32_t)page + 1, link_next(arena, head - 1));
    atomic_store_explicit(bin, (uint32_t)page + 1, memory_order_relaxed);
}

static void bin_remove(struct arena *arena, uint64_t page, uint64_t pages) {
    if (pages < RUN_LEAST) return;
    uint32_t previous = link_previous(arena, page), next = link_next(arena, page);
    if (previous && is_free_run(arena, previous - 1))
        link_set(arena, previous - 1, link_previous(arena, previous - 1), next);
    else atomic_store_explicit(&arena->header->bins[bin_of(pages)], next, memory_order_relaxed);
    if (next && is_free_run(arena, next - 1)) link_set(arena, next - 1, previous, link_next(arena, next - 1));
}

/* A free run of at least `count` pages, out of its bin; or NOWHERE. */
#define NOWHERE UINT64_MAX
static uint64_t bin_find(struct arena *arena, uint64_t count) {
    for (unsigned bin = bin_of(count < RUN_LEAST ? RUN_LEAST : count); bin < BIN_COUNT; bin++) {
        uint32_t at = atomic_load_explicit(&arena->header->bins[bin], memory_order_relaxed);
        for (unsigned looks = 0; at && looks < SCAN_MOST && is_free_run(arena, at - 1); looks++) {
            uint64_t run = page_run(page_get(arena, at - 1));
            if (run >= count && run >= RUN_LEAST && run <= pages_high(arena) - (at - 1)) {
                bin_remove(arena, at - 1, run);
                return at - 1;
            }
            at = link_next(arena, at - 1);
        }
    }
    return NOWHERE;
}

static void count_pages(struct arena *arena, unsigned kind, uint64_t pages, bool more) {
    _Atomic uint64_t *count = kind == PAGE_FREE ? &arena->header->free_pages : &arena->header->big_pages;
    if (kind != PAGE_FREE && kind != PAGE_BIG) return;
    if (more) atomic_fetch_add_explicit(count, pages, memory_order_relaxed);
    else atomic_fetch_sub_explicit(count, pages, memory_order_relaxed);
}

/* Lengthens the chain by a free run of `count` pages; it is in no bin. */
static int chain_lengthen(struct arena *arena, uint64_t count, uint64_t *page) {
    uint64_t high = pages_high(arena);
    int rc = arena_grow(arena, high + count);
    if (rc) return rc;
    if (count > 1) page_set(arena, high + count - 1, page_pack(PAGE_TAIL, 0, (uint32_t)count));
    page_set(arena, high, page_pack(PAGE_FREE, 0, (uint32_t)count));
    FAULT_STEP(); /* killed here: beyond the chain's end, nobody looks */
    atomic_store_explicit(&arena->header->high_pages, high + count, memory_order_release);
    FAULT_STEP(); /* killed here: a free run that is in no bin, until the index is made anew */
    count_pages(arena, PAGE_FREE, count, true);
    *page = high;
    return 0;
}

/* Descriptors inside a slab lead back to its first page. */
static void mark_parts(struct arena *arena, uint64_t page, unsigned class, uint64_t count) {
    for (uint64_t i = 1; i + 1 < count; i++) page_set(arena, page + i, page_pack(PAGE_PART, class, (uint32_t)i));
    if (count > 1) page_set(arena, page + count - 1, page_pack(PAGE_TAIL, class, (uint32_t)count));
}

int pages_take(struct arena *arena, unsigned kind, unsigned class, uint64_t count, uint64_t *out) {
    if (count >= RUN_FREEING) return arena_fail(arena, KVSPACE_ELIMIT, "a block of %llu pages", (unsigned long long)count);
    uint64_t page = bin_find(arena, count);
    if (page == NOWHERE) {
        int rc = chain_lengthen(arena, count < RUN_LEAST ? RUN_LEAST : count, &page);
        if (rc) return rc;
    }
    uint64_t have = page_run(page_get(arena, page)), taken = count;
    if (have - count < RUN_LEAST) taken = have; /* nothing so small stays behind that it could not be indexed */
    atomic_store_explicit(&arena->self->run, (uint32_t)page + 1, memory_order_release);
    FAULT_STEP(); /* killed here: the run is free still, recovery sees that */
    if (have > taken) {
        uint64_t rest = page + taken;
        page_set(arena, rest + (have - taken) - 1, page_pack(PAGE_TAIL, 0, (uint32_t)(have - taken)));
        page_set(arena, rest, page_pack(PAGE_FREE, 0, (uint32_t)(have - taken)));
    }
    if (kind == PAGE_SLAB) mark_parts(arena, page, class, taken);
    else if (taken > 1) page_set(arena, page + taken - 1, page_pack(PAGE_TAIL, class, (uint32_t)taken));
    FAULT_STEP(); /* killed here: inside a free run, nobody looks but for its tail, whose length is set by the next change */
    page_set(arena, page, page_pack(kind, class, (uint32_t)taken));
    FAULT_STEP(); /* killed here: slot->run names it, recovery frees it unless it is recorded elsewhere */
    count_pages(arena, PAGE_FREE, taken, false);
    count_pages(arena, kind, taken, true);
    if (have > taken) bin_add(arena, page + taken, have - taken);
    *out = page;
    return 0;
}

/* Joins the free run at `page` with a free neighbour behind it. `indexed`: the neighbour is in a bin; the links of one that is
 * not are what was there before, and must not be followed. */
static void join_next(struct arena *arena, uint64_t page, bool indexed) {
    uint64_t run = page_run(page_get(arena, page)), next = page + run;
    if (!is_free_run(arena, next)) return;
    uint64_t more = page_run(page_get(arena, next));
    if (!more || more > pages_high(arena) - next || run + more >= RUN_FREEING) return;
    if (indexed) bin_remove(arena, next, more);
    page_set(arena, next + more - 1, page_pack(PAGE_TAIL, 0, (uint32_t)(run + more)));
    FAULT_STEP(); /* killed here: the tail's length is wrong until the index is made anew */
    page_set(arena, page, page_pack(PAGE_FREE, 0, (uint32_t)(run + more)));
}

/* The free run that ends right before `page`, or NOWHERE. */
static uint64_t free_before(const struct arena *arena, uint64_t page) {
    if (!page) return NOWHERE;
    uint64_t tail = page_get(arena, page - 1);
    uint64_t run = page_kind(tail) == PAGE_TAIL ? page_run(tail) : 1;
    if (!run || run > page) return NOWHERE;
    uint64_t head = page_get(arena, page - run);
    return page_kind(head) == PAGE_FREE && page_run(head) == run ? page - run : NOWHERE;
}

/* Under the page lock: free, joined, punched, indexed. */
static void free_run(struct arena *arena, uint64_t page) {
    uint64_t was = page_get(arena, page), run = page_run(was);
    count_pages(arena, page_kind(was), run, false);
    count_pages(arena, PAGE_FREE, run, true);
    page_set(arena, page, page_pack(PAGE_FREE, 0, (uint32_t)run));
    FAULT_STEP(); /* killed here: free but not indexed; the index is made anew */
    if (run >= PUNCH_LEAST)
        (void)platform_file_punch(arena->fd, arena->first + page * FORMAT_PAGE, run * FORMAT_PAGE);
    join_next(arena, page, true);
    uint64_t before = free_before(arena, page);
    if (before != NOWHERE) {
        bin_remove(arena, before, page_run(page_get(arena, before)));
        join_next(arena, before, false);
        page = before;
    }
    bin_add(arena, page, page_run(page_get(arena, page)));
}

void pages_give(struct arena *arena, uint64_t page, _Atomic uint32_t *source) {
    party_lock(arena, &arena->header->page_lock);
    atomic_store_explicit(&arena->self->run, ((uint32_t)page + 1) | RUN_FREEING, memory_order_release);
    FAULT_STEP(); /* killed from here on: recovery frees the run, which `run` names */
    if (source) atomic_store_explicit(source, 0, memory_order_release);
    FAULT_STEP();
    free_run(arena, page);
    FAULT_STEP();
    atomic_store_explicit(&arena->self->run, 0, memory_order_release);
    FAULT_STEP();
    party_unlock(arena, &arena->header->page_lock);
}

/* Whether a run that was being taken has been recorded where it belongs. */
static bool run_is_recorded(struct arena *arena, uint64_t page, uint64_t descriptor) {
    if (page_kind(descriptor) == PAGE_BIG) {
        for (unsigned i = 0; i < PARTY_FRESH_MAX; i++)
            if (atomic_load_explicit(&arena->self->fresh[i], memory_order_relaxed) == page_ref(arena, page)) return true;
        return false;
    }
    unsigned class = page_class(descriptor);
    if (class >= CLASS_COUNT) return false;
    uint64_t fresh = atomic_load_explicit(&arena->header->class[class].fresh, memory_order_relaxed);
    return chain_count(fresh) && chain_head(fresh) == page_ref(arena, page);
}

/* Recovery of pages_give: the run may have been joined already, with a neighbour before it, say; then it is no head. */
static bool run_is_head(const struct arena *arena, uint64_t wanted) {
    uint64_t page = 0, high = pages_high(arena);
    while (page < wanted && page < high) {
        uint64_t run = page_run(page_get(arena, page));
        if (!run) return false;
        page += run;
    }
    return page == wanted && page < high;
}

int pages_index(struct arena *arena) {
    struct space_header *header = arena->header;
    uint64_t page = 0, high = pages_high(arena), last_free = NOWHERE, free_pages = 0, big_pages = 0;
    for (unsigned bin = 0; bin < BIN_COUNT; bin++) atomic_store_explicit(&header->bins[bin], 0, memory_order_relaxed);
    while (page < high) {
        uint64_t descriptor = page_get(arena, page), run = page_run(descriptor);
        unsigned kind = page_kind(descriptor);
        if ((kind != PAGE_FREE && kind != PAGE_SLAB && kind != PAGE_BIG) || !run || run > high - page)
            return arena_fail(arena, KVSPACE_EDAMAGED, "the chain of page runs breaks at page %llu", (unsigned long long)page);
        if (kind == PAGE_BIG) big_pages += run;
        if (kind == PAGE_FREE) free_pages += run;
        if (kind == PAGE_FREE && last_free != NOWHERE) {
            uint64_t joined = page + run - last_free;
            page_set(arena, page + run - 1, page_pack(PAGE_TAIL, 0, (uint32_t)joined));
            page_set(arena, last_free, page_pack(PAGE_FREE, 0, (uint32_t)joined));
        } else {
            if (run > 1) page_set(arena, page + run - 1, page_pack(PAGE_TAIL, page_class(descriptor), (uint32_t)run));
            last_free = kind == PAGE_FREE ? page : NOWHERE;
        }
        page += run;
    }
    /* Links only now, when the runs are what they will be. */
    for (page = 0; page < high; page += page_run(page_get(arena, page)))
        if (page_kind(page_get(arena, page)) == PAGE_FREE) bin_add(arena, page, page_run(page_get(arena, page)));
    atomic_store_explicit(&header->free_pages, free_pages, memory_order_relaxed);
    atomic_store_explicit(&header->big_pages, big_pages, memory_order_relaxed);
    return 0;
}

bool pages_index_is_right(const struct arena *arena, const unsigned char *heads) {
    uint64_t high = pages_high(arena), runs = 0;
    for (uint64_t page = 0; page < high; page += page_run(page_get(arena, page))) {
        if (!page_run(page_get(arena, page))) return false;
        if (page_kind(page_get(arena, page)) == PAGE_FREE && page_run(page_get(arena, page)) >= RUN_LEAST) runs++;
    }
    for (unsigned bin = 0; bin < BIN_COUNT; bin++) {
        uint32_t previous = 0, at = atomic_load_explicit(&arena->header->bins[bin], memory_order_relaxed);
        for (; at; previous = at, at = link_next(arena, at - 1)) {
            if (!runs-- || at - 1 >= high || !(heads[(at - 1) / 8] >> ((at - 1) % 8) & 1) || !is_free_run(arena, at - 1)) return false;
            uint64_t run = page_run(page_get(arena, at - 1));
            if (run < RUN_LEAST || bin_of(run) != bin || link_previous(arena, at - 1) != previous) return false;
        }
    }
    return runs == 0;
}

static void forget_source(struct arena *arena, ref_t ref) {
    struct party_slot *self = arena->self;
    for (unsigned i = 0; i < PARTY_FRESH_MAX; i++)
        if (atomic_load_explicit(&self->fresh[i], memory_order_relaxed) == ref)
            atomic_store_explicit(&self->fresh[i], 0, memory_order_release);
    if (atomic_load_explicit(&self->moving, memory_order_relaxed) == ref)
        atomic_store_explicit(&self->moving, 0, memory_order_release);
    FAULT_STEP();
}

void pages_settle(struct arena *arena) {
    uint32_t run = atomic_load_explicit(&arena->self->run, memory_order_acquire);
    uint64_t page = (uint64_t)(run & ~RUN_FREEING) - 1;
    /* The source first: once the run is free, nothing else may still name it. */
    if (run & RUN_FREEING) forget_source(arena, page_ref(arena, page));
    if (run && run_is_head(arena, page)) {
        uint64_t descriptor = page_get(arena, page);
        unsigned kind = page_kind(descriptor);
        bool in_use = kind == PAGE_SLAB || kind == PAGE_BIG;
        if (in_use && ((run & RUN_FREEING) || !run_is_recorded(arena, page, descriptor)))
            page_set(arena, page, page_pack(PAGE_FREE, 0, page_run(descriptor)));
    }
    (void)pages_index(arena);
    FAULT_STEP(); /* killed here: the same again */
    atomic_store_explicit(&arena->self->run, 0, memory_order_release);
}

bool pages_run_of(const struct arena *arena, uint64_t page, uint64_t *first, uint64_t *descriptor) {
    if (page >= pages_high(arena)) return false;
    uint64_t at = page_get(arena, page), asked = page;
    unsigned kind = page_kind(at);
    if (kind == PAGE_PART || kind == PAGE_TAIL) {
        uint64_t back = kind == PAGE_PART ? page_run(at) : (uint64_t)page_run(at) - 1;
        if (back > page) return false;
        page -= back;
        at = page_get(arena, page);
        kind = page_kind(at);
    }
    if ((kind != PAGE_SLAB && kind != PAGE_BIG) || asked - page >= page_run(at)) return false;
    *first = page;
    *descriptor = at;
    return true;
}
