/* The space's file: what lies where, in shared memory, in format 1. Nodes and tables are in node.h; here are the header,
 * the participants, the page descriptors and the free lists.
 *
 *     header 16 KiB | participants 1,024 × 4 KiB | page descriptors 8 bytes a page of the limit | pages of 4 KiB …
 *
 * Relies on C11 atomics only. Promises: every word that two processes may touch is atomic; sizes are pinned by assertions,
 * and the header carries them, so that another build refuses the file instead of misreading it. */
#ifndef KVSPACE_FORMAT_H
#define KVSPACE_FORMAT_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

typedef uint32_t ref_t; /* 16-byte units from the start of the file; 0 is none */

enum {
    FORMAT_VERSION = 1,
    FORMAT_UNIT = 16,
    FORMAT_PAGE = 4096,
    FORMAT_HEADER_BYTES = 16384,
    PARTY_MAX = 1024,      /* slots of participants */
    PARTY_HELD_MAX = 8,    /* locks that one participant may hold or be about to take */
    PARTY_FRESH_MAX = 16,  /* blocks that an operation has allocated and not yet linked */
    PARTY_STALE_MAX = 16,  /* memory that an operation is about to unlink */
    PARTY_DROP_MAX = 8,    /* references to value blocks that it is about to drop */
    PARTY_PINS_MAX = 64,   /* borrowed blocks recorded in the slot itself; more go to pin pages */
    PARTY_INTENT_WORDS = 12,
    LIMBO_AGES = 3,
    CLASS_COUNT = 36,      /* the last is the class of nodes */
    CLASS_NODE = 35,
    WATCH_WORDS = 64
};
#define FORMAT_MAGIC UINT64_C(0x0a1a65636170736b)      /* "kspace\x1a\n": a transfer as text breaks it */
#define FORMAT_LIMIT_MAX (UINT64_C(1) << 36)
#define FORMAT_LOCK_BASE (UINT64_C(1) << 40)           /* byte-range locks: slot s is byte 2^40 + s */
#define FORMAT_LOCK_OPEN (FORMAT_LOCK_BASE - 1)        /* held while a space is opened, made or closed */

/* Two 32-bit halves that change by one store: the head of a chain and how many are on it. */
static inline uint64_t chain_pack(ref_t head, uint32_t count) { return (uint64_t)count << 32 | head; }
static inline ref_t chain_head(uint64_t chain) { return (ref_t)chain; }
static inline uint32_t chain_count(uint64_t chain) { return (uint32_t)(chain >> 32); }

/* ---- pages ----
 * The descriptor of a run's first page tells its kind, class and length; the last page of a run of two or more has a TAIL
 * with the length; a free run's second page has its links in the index of free runs. All others say PART (slabs) or nothing. */
enum page_kind { PAGE_NONE = 0, PAGE_FREE = 1, PAGE_SLAB = 2, PAGE_BIG = 3, PAGE_TAIL = 4, PAGE_PART = 5 };

/* bits 0-31 pages of the run (PART, TAIL: how many pages back its first is), 32-39 class, 40-47 kind, 48-63 seal. */
static inline uint64_t page_pack(unsigned kind, unsigned class, uint32_t pages) {
    uint64_t body = (uint64_t)kind << 40 | (uint64_t)class << 32 | pages;
    return body | ((body * UINT64_C(0x9e3779b97f4a7c15)) >> 48) << 48; /* the seal notices flipped bits */
}
static inline uint32_t page_run(uint64_t page) { return (uint32_t)page; }
static inline unsigned page_class(uint64_t page) { return (unsigned)(page >> 32) & 0xff; }
static inline unsigned page_kind(uint64_t page) {
    unsigned kind = (unsigned)(page >> 40) & 0xff;
    return page == page_pack(kind, page_class(page), page_run(page)) ? kind : (unsigned)PAGE_NONE;
}

/* ---- header ---- */

/* Free blocks of one class, for everybody, under `lock`. Batches hang together by their first blocks (alloc.c). */
struct class_pool {
    _Atomic uint32_t lock;
    _Atomic uint32_t batches;   /* first block of the first batch */
    _Atomic uint64_t fresh;     /* chain_pack(next block of the slab that is being cut, blocks left in it) */
    _Atomic uint64_t slabs;     /* how many there are */
    _Atomic uint64_t pooled;    /* blocks in batches; a figure, not a promise */
    uint64_t spare[4];
};
static_assert(sizeof(struct class_pool) == 64, "one cache line a class");

struct space_header {
    uint64_t magic;
    uint32_t version;
    uint32_t byte_order;        /* 0x01020304 as the creator's machine stores it */
    uint32_t page_bytes;
    uint32_t header_bytes, party_bytes, class_count, party_max, node_bytes;
    uint64_t limit_bytes;       /* of the whole file */
    uint64_t table_at;          /* byte of the first page descriptor */
    uint64_t pages_at;          /* byte of page 0 */
    uint64_t seal;              /* of everything above: format_seal */
    char boot_id[40];           /* of the last first open */
    _Atomic uint64_t generation;
    _Atomic uint32_t clean;     /* 1: the last participant closed it */
    _Atomic uint32_t party_high; /* slots ever used */
    _Atomic uint64_t created_ns; /* wall clock */
    _Atomic uint64_t file_bytes; /* how long the file is at least */
    _Atomic uint64_t high_pages; /* pages in the chain of runs */
    _Atomic uint32_t root;       /* the root node */
    _Atomic uint32_t steps;      /* E.g. the intern table of step names */
    _Atomic uint32_t tree_words[16]; /* for the tree: counters, locks, heads */
    _Atomic uint64_t tree_counts[8];
    _Atomic uint32_t code_changes;     /* counts up behind each change below /lib, so that runtimes look again */
    uint32_t pad32;
    uint64_t pad[15];

    _Alignas(64) _Atomic uint64_t epoch; /* starts at 2; a participant's 0 is "outside" */
    _Alignas(64) _Atomic uint32_t page_lock;
    _Atomic uint32_t bins[33];  /* first free run with 2^n ≤ pages < 2^(n+1), as page + 1; an index under page_lock */
    _Atomic uint64_t free_pages;
    _Atomic uint64_t big_pages;
    _Alignas(64) struct class_pool class[CLASS_COUNT];
    _Alignas(64) _Atomic uint32_t watch[WATCH_WORDS];
    _Atomic uint32_t slot_state[PARTY_MAX]; /* enum party_state */
};
static_assert(sizeof(struct space_header) <= FORMAT_HEADER_BYTES, "the header has its pages");

/* Slots that somebody has ever used; whatever the word says, no more than there are. */
static inline uint32_t header_slots(const struct space_header *header) {
    uint32_t high = atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)&header->party_high, memory_order_acquire);
    return high < PARTY_MAX ? high : PARTY_MAX;
}

/* ---- participants ---- */

enum party_state {
    PARTY_FREE = 0,    /* nobody; caches and limbo may still hold memory, which the next in this slot takes over */
    PARTY_ACTIVE = 1   /* in use, or its owner died without closing */
};

/* What recovery decided about the operation under way. */
enum party_outcome { OUTCOME_NONE = 0, OUTCOME_UNDONE = 1, OUTCOME_DONE = 2 };

/* One operation of the tree under way. The words are the tree's own (tree intents); kind 0 is none. */
struct intent {
    _Atomic uint32_t kind;
    _Atomic uint32_t step; /* how far it is, if the kind has steps */
    _Atomic uint64_t word[PARTY_INTENT_WORDS];
};

struct class_cache {
    _Atomic uint64_t active; /* chain that blocks are taken from and given to */
    _Atomic uint64_t spare;  /* a full batch, or 0 */
};

/* A participant's slot: written by its owner alone, or by the one who holds its byte lock to recover it. */
struct party_slot {
    _Atomic uint64_t epoch;         /* 0: outside */
    _Atomic uint32_t incarnation;
    _Atomic uint32_t pid;           /* for people only: never decides anything */
    _Atomic uint64_t joined_ns;     /* wall clock */
    char label[32];                 /* program name, for /sys */
    _Alignas(64) _Atomic uint64_t held[PARTY_HELD_MAX]; /* byte of each lock word from the start of the file; 0 none */
    _Atomic uint32_t moving;        /* a free block between two lists */
    _Atomic uint32_t run;           /* page + 1 of a run that is being taken */
    _Atomic uint32_t outcome;       /* enum party_outcome, set by recovery */
    _Atomic uint32_t recovered;     /* recoveries that this slot has seen */
    struct intent intent;
    _Atomic uint32_t fresh[PARTY_FRESH_MAX];
    _Atomic uint32_t stale[PARTY_STALE_MAX];
    _Atomic uint32_t drop[PARTY_DROP_MAX];
    _Atomic uint32_t drop_seen[PARTY_DROP_MAX]; /* count before the decrement that is under way; 0: not begun */
    struct {
        _Atomic uint64_t epoch;
        _Atomic uint64_t chain;
    } limbo[LIMBO_AGES];
    _Atomic uint32_t pins[PARTY_PINS_MAX];
    _Atomic uint32_t pin_pages;     /* chain of struct pin_page */
    uint32_t pad;
    uint64_t spare[8];
    struct class_cache cache[CLASS_COUNT];
    _Atomic uint64_t counts[16];    /* operations by kind, for /sys */
};
enum { PARTY_BYTES = 4096 };
static_assert(sizeof(struct party_slot) <= PARTY_BYTES, "a slot is a page");

/* Pins beyond the slot's own. */
struct pin_page {
    _Atomic uint32_t used;
    _Atomic uint32_t link;
    _Atomic uint32_t next;
    uint32_t pad;
    _Atomic uint32_t pins[124];
};
static_assert(sizeof(struct pin_page) == 512, "a pin page is a block of 512 bytes");

#endif
