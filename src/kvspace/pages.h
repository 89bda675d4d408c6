/* Page runs: what alloc.c cuts slabs and big blocks from. For alloc.c, party.c and the check alone.
 * The chain of runs from page 0 to high_pages is the truth and changes by single 8-byte stores; the bins are an index of
 * the free ones, made anew from the chain when a holder of the page lock has died. Relies on arena.h, party.h. */
#ifndef KVSPACE_PAGES_H
#define KVSPACE_PAGES_H

#include "kvspace/arena.h"

#define RUN_FREEING UINT32_C(0x80000000) /* in slot->run: on its way to free, not from it */

static inline uint64_t page_get(const struct arena *arena, uint64_t page) {
    return atomic_load_explicit(&arena->pages[page], memory_order_acquire);
}
static inline ref_t page_ref(const struct arena *arena, uint64_t page) {
    return (ref_t)((arena->first + page * FORMAT_PAGE) / FORMAT_UNIT);
}
static inline uint64_t pages_high(const struct arena *arena) {
    uint64_t high = atomic_load_explicit(&arena->header->high_pages, memory_order_acquire);
    uint64_t most = arena_page_limit(arena);
    return high < most ? high : most;
}

/* Takes a run of at least `count` pages for `kind` and `class`; the page lock is held before and after. slot->run names it
 * afterwards: clear it when the run is recorded elsewhere. EFULL, ENOSPC, EDAMAGED. */
int pages_take(struct arena *arena, unsigned kind, unsigned class, uint64_t count, uint64_t *page);
/* Makes the run free: takes the page lock; *source (which names the run for recovery) is cleared on the way. */
void pages_give(struct arena *arena, uint64_t page, _Atomic uint32_t *source);
/* The dead self held the page lock: index anew, and its half-taken or half-freed run. */
void pages_settle(struct arena *arena);
/* The first page of the run in use (SLAB, BIG) that the page belongs to; false if there is none. */
bool pages_run_of(const struct arena *arena, uint64_t page, uint64_t *first, uint64_t *descriptor);
/* Makes the bins and the counts from the chain, joining free neighbours. The page lock is held. EDAMAGED: the chain breaks. */
int pages_index(struct arena *arena);
/* Whether the bins list exactly the free runs that they should; `heads` has a bit set for each first page of a run. */
bool pages_index_is_right(const struct arena *arena, const unsigned char *heads);

#endif
