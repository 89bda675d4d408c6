/* The arena: a space's file, mapped; and checked pointers into it.
 * One handle is used by one thread at a time. The file is mapped once for the whole limit (less where the address space is
 * short), so it grows without moving anything. Relies on platform.h. Promises: a reference is followed only when it and
 * its bytes lie inside pages that the file really has; nothing is printed, nothing aborts; errors carry a message. */
#ifndef KVSPACE_ARENA_H
#define KVSPACE_ARENA_H

#include "kvspace/format.h"
#include "platform/platform.h"
#include <kvspace/kvspace.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

/* Hooks by which the tree and the core bring a dead participant's operation to an end (party.h). */
struct party_hooks {
    /* Phase 1, called while the caller may hold locks of its own: make the structures whole that the dead one's locks
     * guard, so that these may be released. Takes no lock, allocates nothing, frees nothing; idempotent. Says whether the
     * operation has happened (OUTCOME_DONE: its stale memory is retired, its fresh memory kept) or not (OUTCOME_UNDONE:
     * the other way round). Called only if the intent's kind is not 0. */
    enum party_outcome (*settle)(struct arena *arena, struct party_slot *dead, void *context);
    /* Phase 2, no locks held: the arena acts as the dead one, with all functions at hand; finishes what the intent still
     * asks for (reaping, say). Fresh, stale and drop lists are empty by then. The intent is cleared afterwards. */
    void (*finish)(struct arena *arena, struct party_slot *dead, void *context);
    void *context;
};

struct arena {
    unsigned char *base;
    uint64_t mapped_bytes;
    uint64_t first;          /* byte of page 0 */
    uint64_t safe_span;      /* bytes behind `first` that are known to be in the file */
    struct space_header *header;
    _Atomic uint64_t *pages; /* descriptors */
    struct party_slot *self; /* whom we act as */
    uint32_t slot;           /* number of self */
    uint32_t own_slot;       /* our own number, whomever we act as */
    int fd;
    uint32_t section_depth;
    uint32_t held_count;     /* locks held by self */
    uint32_t pin_hint;       /* where the next pin goes, if the place is free (pin.c) */
    uint32_t retires;        /* since the last try to advance the epoch */
    uint32_t pending_high;   /* slots below it may want phase 2 of a recovery; 0: none */
    uint32_t pending[16];    /* slots whose phase 2 is due */
    bool first_open;         /* nobody else had it open */
    bool was_unclean;        /* first_open, and the last one did not close */
    bool other_boot;         /* first_open, and the machine has been started anew since */
    bool recovering;
    struct platform_lease lease; /* notices a fork: a child must not use its parent's handle */
    struct party_hooks hooks;
    char message[256];       /* of the last error */
};

struct arena_options {
    uint64_t limit_bytes;    /* of a new space; 0: 64 GiB */
    bool trust;              /* open it though another user owns it */
    bool must_exist;         /* do not make it */
    bool must_create;        /* KVSPACE_EEXIST when it is there */
    const char *label;       /* shown in /sys; may be NULL */
    struct party_hooks hooks;
    /* Called once on a new space, before anybody else can see it: make the root here. */
    int (*found)(struct arena *arena, void *context);
    void *found_context;
};

/* Opens or makes the space at `path` and joins it as a participant; recovers dead ones. On failure the arena holds nothing
 * but `message`. ENOENT, EEXIST, EPERM, EUNTRUSTED, EFOREIGN, EVERSION, ETRUNCATED, EDAMAGED, ENOSPC, EPARTIES, EIO, ENOMEM. */
int arena_open(struct arena *arena, const char *path, const struct arena_options *options);

/* Leaves and unmaps. The last one out marks the space clean and syncs it. Harmless on a handle that was never open. */
void arena_close(struct arena *arena);

/* 0, or why the mapping must not be used any more: EUSAGE in a process that was forked off the one which opened the handle,
 * ETRUNCATED when the file was found to be shorter than it was. */
int arena_usable_slowly(struct arena *arena);
static inline int arena_usable(struct arena *arena) {
    bool bad = atomic_load_explicit(&arena->lease.lost, memory_order_relaxed) || atomic_load_explicit(&arena->lease.shrunk, memory_order_relaxed);
    return bad ? arena_usable_slowly(arena) : 0;
}

/* Sets the message and gives `code` back, so that `return arena_fail(arena, KVSPACE_EDAMAGED, "…")` reads well. */
int arena_fail(struct arena *arena, int code, const char *form, ...) __attribute__((format(printf, 3, 4)));

/* Slow path of arena_at: asks the header and the file again. */
void *arena_at_again(const struct arena *arena, ref_t ref, uint64_t bytes);

/* The memory behind a reference, NULL if it or its last byte is outside the pages of the space. */
static inline void *arena_at(const struct arena *arena, ref_t ref, uint64_t bytes) {
    uint64_t at = (uint64_t)ref * FORMAT_UNIT - arena->first; /* wraps to huge for a reference before the pages */
    if (at < arena->safe_span && bytes <= arena->safe_span - at) return arena->base + (uint64_t)ref * FORMAT_UNIT;
    return arena_at_again(arena, ref, bytes);
}

static inline ref_t arena_ref(const struct arena *arena, const void *at) {
    return (ref_t)((uint64_t)((const unsigned char *)at - arena->base) / FORMAT_UNIT);
}

/* Makes the file long enough for pages [0, pages) (under page_lock). EFULL with sizes, ENOSPC, EIO. */
int arena_grow(struct arena *arena, uint64_t pages);

/* Pages that the limit has room for. */
static inline uint64_t arena_page_limit(const struct arena *arena) {
    return (arena->header->limit_bytes - arena->first) / FORMAT_PAGE;
}

static inline struct party_slot *arena_slot(const struct arena *arena, uint32_t slot) {
    return (struct party_slot *)(void *)(arena->base + FORMAT_HEADER_BYTES + (uint64_t)slot * PARTY_BYTES);
}

#endif
