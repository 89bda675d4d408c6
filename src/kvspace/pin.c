/* Borrowed references to counted blocks (alloc.h): each is recorded in the participant's slot, so that a death gives it back.
 * The first PARTY_PINS_MAX stand in the slot itself, more in pages that hang on it. A reference is taken before it is
 * recorded and given back after its record is gone: who dies in between leaves the block to check --repair.
 * Relies on alloc.h. Promises: nothing that is pinned is freed; the search for a free place begins where the last pin went,
 * so the usual stack of pins costs one look. */
#include "kvspace/alloc.h"
#include "kvspace/fault.h"

#include <string.h>

enum { PAGE_PINS = sizeof((struct pin_page *)0)->pins / sizeof(uint32_t) };

static inline uint32_t get32(const _Atomic uint32_t *word) { return atomic_load_explicit(word, memory_order_acquire); }
/* Release: the record comes after the reference it stands for, and goes before it. */
static inline void put32(_Atomic uint32_t *word, uint32_t value) { atomic_store_explicit(word, value, memory_order_release); }

static struct pin_page *page_at(const struct arena *arena, ref_t ref) {
    return ref ? (struct pin_page *)arena_at(arena, ref, sizeof(struct pin_page)) : NULL;
}

/* A place in the slot that holds `value`, from `hint` downwards and around. */
static _Atomic uint32_t *slot_place(struct arena *arena, uint32_t value) {
    for (uint32_t i = 0; i < PARTY_PINS_MAX; i++) {
        uint32_t at = (arena->pin_hint - i) % PARTY_PINS_MAX;
        if (get32(&arena->self->pins[at]) != value) continue;
        arena->pin_hint = value ? at : at + 1; /* given back: the next pin goes here; taken: to the next place */
        return &arena->self->pins[at];
    }
    return NULL;
}

static _Atomic uint32_t *page_place(struct arena *arena, uint32_t value, struct pin_page **page) {
    ref_t ref = get32(&arena->self->pin_pages);
    for (*page = page_at(arena, ref); *page; *page = page_at(arena, get32(&(*page)->next))) {
        uint32_t used = get32(&(*page)->used);
        if (value ? !used : used == PAGE_PINS) continue;
        for (uint32_t i = 0; i < PAGE_PINS; i++)
            if (get32(&(*page)->pins[i]) == value) return &(*page)->pins[i];
    }
    return NULL;
}

static int page_make(struct arena *arena, struct pin_page **page) {
    ref_t ref;
    int rc = alloc_take(arena, sizeof(struct pin_page), &ref);
    if (rc) return rc;
    *page = page_at(arena, ref);
    memset(*page, 0, sizeof **page);
    put32(&(*page)->next, get32(&arena->self->pin_pages));
    alloc_keep(arena, ref); /* killed here: a page for check --repair */
    put32(&arena->self->pin_pages, ref);
    FAULT_STEP();
    return 0;
}

bool block_pin(struct arena *arena, ref_t block, int *code) {
    struct pin_page *page = NULL;
    *code = 0;
    _Atomic uint32_t *place = slot_place(arena, 0);
    if (!place) place = page_place(arena, 0, &page);
    if (!place) {
        *code = page_make(arena, &page);
        if (*code) return false;
        place = &page->pins[0];
    }
    if (!block_ref(arena, block)) return false;
    put32(place, block);
    FAULT_STEP();
    if (page) put32(&page->used, get32(&page->used) + 1);
    return true;
}

void block_unpin(struct arena *arena, ref_t block) {
    struct pin_page *page = NULL;
    _Atomic uint32_t *place = slot_place(arena, block);
    if (!place) place = page_place(arena, block, &page);
    assert(place);
    if (!place) return;
    put32(place, 0);
    FAULT_STEP(); /* killed here: one reference too many, for check --repair */
    if (page) put32(&page->used, get32(&page->used) - 1);
    block_unref(arena, block);
}

static void give_back(struct arena *arena, _Atomic uint32_t *place) {
    ref_t block = get32(place);
    if (!block) return;
    put32(place, 0);
    FAULT_STEP();
    block_unref(arena, block);
}

void block_unpin_all(struct arena *arena) {
    struct party_slot *self = arena->self;
    for (uint32_t i = 0; i < PARTY_PINS_MAX; i++) give_back(arena, &self->pins[i]);
    for (ref_t ref = get32(&self->pin_pages); ref; ref = get32(&self->pin_pages)) {
        struct pin_page *page = page_at(arena, ref);
        if (!page) { /* damage: what hangs there is lost until check --repair */
            put32(&self->pin_pages, 0);
            return;
        }
        for (uint32_t i = 0; i < PAGE_PINS; i++) give_back(arena, &page->pins[i]);
        put32(&self->pin_pages, get32(&page->next));
        FAULT_STEP(); /* killed here: a page for check --repair */
        alloc_retire(arena, ref);
    }
}
