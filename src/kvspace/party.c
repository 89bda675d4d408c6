/* Participants (party.h): joining, epochs, locks with takeover, recovery.
 * Stores of a process that is killed are a prefix of its program, so recovery needs only an order of stores that the compiler
 * keeps: release stores throughout. Relies on alloc_parts.h for the allocator's half. Promises: phase 1 takes no lock, so it
 * may run while its caller holds some; phase 2 runs when the caller holds none, and acts as the dead participant itself. */
#include "kvspace/party.h"
#include "kvspace/alloc_parts.h"
#include "kvspace/fault.h"

#include <string.h>

#define LOCK_WAITERS UINT32_C(0x80000000)
enum { LOCK_SPINS = 100, LOCK_SLICE_NS = 1000000, PENDING_MAX = 16 };

static _Atomic uint32_t *state_of(const struct arena *arena, uint32_t slot) { return &arena->header->slot_state[slot]; }
static uint64_t byte_of(uint32_t slot) { return FORMAT_LOCK_BASE + slot; }

struct party_mask party_put_on(struct arena *arena, uint32_t slot) {
    struct party_mask mask = {arena->self, arena->slot, arena->held_count, arena->section_depth};
    arena->self = arena_slot(arena, slot);
    arena->slot = slot;
    arena->held_count = 0;
    arena->section_depth = 0;
    return mask;
}

void party_take_off(struct arena *arena, struct party_mask mask) {
    arena->self = mask.self;
    arena->slot = mask.slot;
    arena->held_count = mask.held_count;
    arena->section_depth = mask.section_depth;
}

bool party_alive(const struct arena *arena, uint32_t slot) {
    if (slot == arena->own_slot || slot == arena->slot) return true; /* a lock of our own does not show */
    return platform_lock_held(arena->fd, byte_of(slot));
}

/* ---- recovery ---- */

static void publish_epoch(struct arena *arena) {
    uint64_t now = atomic_load_explicit(&arena->header->epoch, memory_order_acquire);
    /* Sequentially consistent: the epoch is out before any reference is read. An epoch that has moved on meanwhile only
     * makes the others wait for us: advancing needs everybody at the current one. */
    atomic_store_explicit(&arena->self->epoch, now, memory_order_seq_cst);
}

/* The word behind an entry of held[], NULL if it names no place in the space. */
static _Atomic uint32_t *lock_word(const struct arena *arena, uint64_t at) {
    if (!at || at % 4) return NULL;
    if (at < FORMAT_HEADER_BYTES - 4) return (_Atomic uint32_t *)(void *)(arena->base + at);
    ref_t unit = at / FORMAT_UNIT <= UINT32_MAX ? (ref_t)(at / FORMAT_UNIT) : 0;
    return arena_at(arena, unit, FORMAT_UNIT) ? (_Atomic uint32_t *)(void *)(arena->base + at) : NULL;
}

static bool lock_is_of(const _Atomic uint32_t *word, uint32_t slot) {
    return (atomic_load_explicit(word, memory_order_acquire) & ~LOCK_WAITERS) == slot + 1;
}

/* Phase 1, acting as the dead one: what its locks guard is made whole, then they are released. */
static void settle(struct arena *arena) {
    struct party_slot *dead = arena->self;
    atomic_fetch_add_explicit(&arena->header->code_changes, 1, memory_order_release); /* it may have died before it could say so */
    for (unsigned i = 0; i < PARTY_HELD_MAX; i++) {
        uint64_t at = atomic_load_explicit(&dead->held[i], memory_order_acquire);
        _Atomic uint32_t *word = lock_word(arena, at);
        if (word && lock_is_of(word, arena->slot)) alloc_settle_lock(arena, at);
    }
    FAULT_STEP();
    uint32_t kind = atomic_load_explicit(&dead->intent.kind, memory_order_acquire);
    if (kind && atomic_load_explicit(&dead->outcome, memory_order_acquire) == OUTCOME_NONE) {
        enum party_outcome outcome =
            arena->hooks.settle ? arena->hooks.settle(arena, dead, arena->hooks.context) : OUTCOME_UNDONE;
        FAULT_STEP(); /* killed here: settled once more, which finds the same */
        atomic_store_explicit(&dead->outcome, (uint32_t)outcome, memory_order_release);
    }
    for (unsigned i = 0; i < PARTY_HELD_MAX; i++) {
        uint64_t at = atomic_load_explicit(&dead->held[i], memory_order_acquire);
        _Atomic uint32_t *word = lock_word(arena, at);
        if (word && lock_is_of(word, arena->slot) &&
            (atomic_exchange_explicit(word, 0, memory_order_acq_rel) & LOCK_WAITERS))
            platform_wake(word, UINT32_MAX);
        FAULT_STEP(); /* killed here: the lock is another's by now, or free; the owner in the word tells */
        atomic_store_explicit(&dead->held[i], 0, memory_order_release);
    }
    atomic_store_explicit(&dead->epoch, 0, memory_order_seq_cst);
    atomic_fetch_add_explicit(&dead->recovered, 1, memory_order_relaxed);
}

/* Phase 2, acting as the dead one. */
static void finish(struct arena *arena) {
    struct party_slot *dead = arena->self;
    bool was_recovering = arena->recovering;
    arena->recovering = true;
    arena->section_depth++; /* what is read below stays readable */
    publish_epoch(arena);
    alloc_settle_lists(arena, (enum party_outcome)atomic_load_explicit(&dead->outcome, memory_order_acquire));
    FAULT_STEP();
    /* From here on the finishing is an operation like any other, and is settled anew should we die in it. */
    atomic_store_explicit(&dead->outcome, OUTCOME_NONE, memory_order_release);
    if (atomic_load_explicit(&dead->intent.kind, memory_order_acquire)) {
        if (arena->hooks.finish) arena->hooks.finish(arena, dead, arena->hooks.context);
        FAULT_STEP();
        atomic_store_explicit(&dead->intent.kind, 0, memory_order_release);
    }
    arena->section_depth--;
    atomic_store_explicit(&dead->epoch, 0, memory_order_release);
    arena->recovering = was_recovering;
}

static void remember_pending(struct arena *arena, uint32_t slot) {
    for (uint32_t i = 0; i < arena->pending_high; i++)
        if (arena->pending[i] == slot) return;
    if (arena->pending_high < PENDING_MAX) arena->pending[arena->pending_high++] = slot;
}

/* The byte lock of `owner` is held: if the word names it still, no living process can ever release it. */
static void free_word(_Atomic uint32_t *word, uint32_t owner) {
    uint32_t seen = atomic_load_explicit(word, memory_order_acquire);
    if ((seen & ~LOCK_WAITERS) == owner + 1)
        (void)atomic_compare_exchange_strong_explicit(word, &seen, 0, memory_order_acq_rel, memory_order_relaxed);
}

/* Recovers the slot if its owner is dead. Without `both`, phase 2 is put off. `wanted` (may be NULL) is a lock that the
 * caller waits for: it is free afterwards even if damage put the dead one's name there. True if the owner was dead. */
static bool recover(struct arena *arena, uint32_t slot, bool both, _Atomic uint32_t *wanted) {
    if (slot == arena->own_slot || slot == arena->slot || slot >= PARTY_MAX) return false;
    if (platform_lock_try(arena->fd, byte_of(slot))) return false; /* alive, or in another's hands */
    uint32_t state = atomic_load_explicit(state_of(arena, slot), memory_order_acquire);
    if (state == PARTY_ACTIVE) {
        struct party_mask mask = party_put_on(arena, slot);
        settle(arena);
        if (both) {
            finish(arena);
            atomic_store_explicit(state_of(arena, slot), PARTY_FREE, memory_order_release);
        }
        party_take_off(arena, mask);
        if (!both) remember_pending(arena, slot);
    }
    if (wanted) free_word(wanted, slot);
    platform_lock_drop(arena->fd, byte_of(slot));
    return true;
}

static void run_pending(struct arena *arena) {
    if (arena->recovering) return;
    while (arena->pending_high) (void)recover(arena, arena->pending[--arena->pending_high], true, NULL);
}

void party_recover_all(struct arena *arena) {
    uint32_t high = header_slots(arena->header);
    for (uint32_t slot = 0; slot < high; slot++) {
        uint32_t state = atomic_load_explicit(state_of(arena, slot), memory_order_acquire);
        if (state == PARTY_ACTIVE) (void)recover(arena, slot, true, NULL);
    }
    arena->pending_high = 0;
}

/* ---- life ---- */

static void raise_high(struct arena *arena, uint32_t slot) {
    uint32_t high = atomic_load_explicit(&arena->header->party_high, memory_order_relaxed);
    while (high <= slot && !atomic_compare_exchange_weak_explicit(&arena->header->party_high, &high, slot + 1,
                                                                  memory_order_acq_rel, memory_order_relaxed)) {}
}

/* The slot's byte lock is ours: end what a dead owner left, then move in. */
static void move_in(struct arena *arena, uint32_t slot, const char *label) {
    uint32_t state = atomic_load_explicit(state_of(arena, slot), memory_order_acquire);
    arena->own_slot = arena->slot = slot;
    arena->self = arena_slot(arena, slot);
    arena->held_count = arena->section_depth = 0;
    if (state != PARTY_FREE) {
        settle(arena);
        finish(arena);
    }
    struct party_slot *self = arena->self;
    atomic_fetch_add_explicit(&self->incarnation, 1, memory_order_relaxed);
    atomic_store_explicit(&self->pid, platform_pid(), memory_order_relaxed);
    atomic_store_explicit(&self->joined_ns, (uint64_t)platform_wall_ns(), memory_order_relaxed);
    memset(self->label, 0, sizeof self->label);
    if (label) memcpy(self->label, label, strnlen(label, sizeof self->label - 1));
    for (unsigned i = 0; i < 16; i++) atomic_store_explicit(&self->counts[i], 0, memory_order_relaxed);
    atomic_store_explicit(state_of(arena, slot), PARTY_ACTIVE, memory_order_release);
}

int party_join(struct arena *arena, const char *label) {
    arena->own_slot = arena->slot = UINT32_MAX;
    for (uint32_t slot = 0; slot < PARTY_MAX; slot++) {
        if (platform_lock_try(arena->fd, byte_of(slot))) continue;
        uint64_t at = FORMAT_HEADER_BYTES + (uint64_t)slot * PARTY_BYTES;
        if (platform_file_allocate(arena->fd, at, PARTY_BYTES)) {
            platform_lock_drop(arena->fd, byte_of(slot));
            return arena_fail(arena, KVSPACE_ENOSPC, "no room on the device for another participant");
        }
        raise_high(arena, slot);
        move_in(arena, slot, label);
        return 0;
    }
    return arena_fail(arena, KVSPACE_EPARTIES, "%u participants have the space open", (unsigned)PARTY_MAX);
}

void party_leave(struct arena *arena) {
    while (arena->section_depth) party_exit(arena);
    block_unpin_all(arena);
    run_pending(arena);
    for (unsigned i = 0; i < 2 && party_advance(arena); i++) {}
    alloc_drain(arena, UINT32_MAX);
    atomic_store_explicit(state_of(arena, arena->own_slot), PARTY_FREE, memory_order_release);
    platform_lock_drop(arena->fd, byte_of(arena->own_slot));
    arena->self = NULL;
}

/* ---- epochs ---- */

int party_enter(struct arena *arena) {
    int rc = arena_usable(arena);
    if (rc) return rc;
    if (arena->section_depth++ == 0) publish_epoch(arena);
    return 0;
}

void party_exit(struct arena *arena) {
    if (!arena->section_depth || --arena->section_depth) return;
    /* Release: what was read inside was read before. */
    atomic_store_explicit(&arena->self->epoch, 0, memory_order_release);
    if (arena->pending_high && !arena->held_count) run_pending(arena);
}

void party_refresh(struct arena *arena) {
    if (arena->section_depth == 1) publish_epoch(arena);
}

bool party_advance(struct arena *arena) {
    uint64_t now = atomic_load_explicit(&arena->header->epoch, memory_order_seq_cst);
    uint32_t high = header_slots(arena->header);
    for (uint32_t slot = 0; slot < high; slot++) {
        uint64_t seen = atomic_load_explicit(&arena_slot(arena, slot)->epoch, memory_order_seq_cst);
        if (!seen || seen == now) continue;
        if (party_alive(arena, slot) || !recover(arena, slot, false, NULL)) return false;
    }
    return atomic_compare_exchange_strong_explicit(&arena->header->epoch, &now, now + 1, memory_order_seq_cst,
                                                   memory_order_seq_cst);
}

/* ---- locks ---- */

static uint64_t offset_of(const struct arena *arena, const _Atomic uint32_t *word) {
    return (uint64_t)((const unsigned char *)word - arena->base);
}

static unsigned held_find(const struct arena *arena, uint64_t at) {
    for (unsigned i = 0; i < PARTY_HELD_MAX; i++)
        if (atomic_load_explicit(&arena->self->held[i], memory_order_relaxed) == at) return i;
    return PARTY_HELD_MAX;
}

bool party_holds(const struct arena *arena, const _Atomic uint32_t *word) { return lock_is_of(word, arena->slot); }

/* Names the lock in held[]: before it is ours, so that it is never ours unnamed. */
static unsigned held_name(struct arena *arena, uint64_t at) {
    unsigned i = held_find(arena, 0);
    assert(i < PARTY_HELD_MAX);
    atomic_store_explicit(&arena->self->held[i], at, memory_order_release);
    FAULT_STEP(); /* killed here: named but not ours, the owner in the word tells */
    return i;
}

/* Sleeps until the lock may be free. The owner is asked for life each time; a dead one's locks are released on the spot. */
static void lock_await(struct arena *arena, _Atomic uint32_t *word, uint32_t seen) {
    uint32_t owner = (seen & ~LOCK_WAITERS) - 1;
    if (owner >= PARTY_MAX || owner == arena->slot) { /* damage: no participant can ever release it */
        (void)atomic_compare_exchange_strong_explicit(word, &seen, 0, memory_order_acq_rel, memory_order_relaxed);
        return;
    }
    if (!party_alive(arena, owner) && recover(arena, owner, false, word)) return;
    if (!(seen & LOCK_WAITERS) && !atomic_compare_exchange_strong_explicit(word, &seen, seen | LOCK_WAITERS,
                                                                          memory_order_acq_rel, memory_order_relaxed))
        return;
    (void)platform_wait(word, seen | LOCK_WAITERS, LOCK_SLICE_NS);
}

void party_lock(struct arena *arena, _Atomic uint32_t *word) {
    uint32_t me = arena->slot + 1, seen = 0;
    (void)held_name(arena, offset_of(arena, word));
    arena->held_count++;
    /* Acquire: what the last owner wrote is seen. Release: held[] names the lock before it is ours. */
    if (atomic_compare_exchange_strong_explicit(word, &seen, me, memory_order_acq_rel, memory_order_relaxed)) {
        FAULT_STEP();
        return;
    }
    for (unsigned spins = 0;; spins++) {
        seen = atomic_load_explicit(word, memory_order_relaxed);
        if (!(seen & ~LOCK_WAITERS)) {
            if (atomic_compare_exchange_strong_explicit(word, &seen, me | (spins > LOCK_SPINS ? LOCK_WAITERS : seen),
                                                        memory_order_acq_rel, memory_order_relaxed))
                break;
        } else if (spins < LOCK_SPINS) platform_pause();
        else lock_await(arena, word, seen);
    }
    FAULT_STEP();
}

void party_unlock(struct arena *arena, _Atomic uint32_t *word) {
    unsigned named = held_find(arena, offset_of(arena, word));
    assert(named < PARTY_HELD_MAX);
    uint32_t was = atomic_exchange_explicit(word, 0, memory_order_acq_rel);
    FAULT_STEP(); /* killed here: named but not ours any more */
    if (named < PARTY_HELD_MAX) atomic_store_explicit(&arena->self->held[named], 0, memory_order_release);
    if (arena->held_count) arena->held_count--;
    if (was & LOCK_WAITERS) platform_wake(word, 1);
}
