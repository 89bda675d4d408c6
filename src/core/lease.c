/* Leases and looks (lease.h). A lease word is slot + 1 in the upper half and the slot's incarnation in the lower one. */
#include "core/lease.h"

#include <time.h>

#include "kvspace/party.h"
#include "kvspace/space.h"

enum { TAKE_TRIES = 20, LOOK_SPINS = 50, LOOK_WAIT_NS = 100000000, LOOK_QUEUE_NS = 200000000, STILL_SLICE_NS = 1000000 };

static int64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void pause_ns(long ns) {
    struct timespec pause = { 0, ns };
    nanosleep(&pause, NULL);
}

uint64_t lease_own(const struct core *core) {
    const struct arena *arena = &core->space->arena;
    uint32_t incarnation = atomic_load_explicit(&arena_slot(arena, arena->own_slot)->incarnation, memory_order_relaxed);
    return (uint64_t)(arena->own_slot + 1) << 32 | incarnation;
}

static bool holder_lives(const struct core *core, uint64_t lease) {
    const struct arena *arena = &core->space->arena;
    uint32_t slot = (uint32_t)(lease >> 32) - 1;
    if (!lease || slot >= PARTY_MAX || slot >= atomic_load_explicit(&arena->header->party_high, memory_order_acquire)) return false;
    if (atomic_load_explicit(&arena_slot(arena, slot)->incarnation, memory_order_acquire) != (uint32_t)lease) return false;
    return party_alive(arena, slot);
}

/* Until what the dead one had begun in the tree is done or undone. */
static void settle(struct core *core, uint64_t lease) {
    struct arena *arena = &core->space->arena;
    uint32_t slot = (uint32_t)(lease >> 32) - 1;
    if (slot >= atomic_load_explicit(&arena->header->party_high, memory_order_acquire)) return;
    for (;;) {
        if (atomic_load_explicit(&arena->header->slot_state[slot], memory_order_acquire) != PARTY_ACTIVE) return;
        if (atomic_load_explicit(&arena_slot(arena, slot)->incarnation, memory_order_acquire) != (uint32_t)lease) return;
        party_recover_all(arena);
        if (atomic_load_explicit(&arena->header->slot_state[slot], memory_order_acquire) == PARTY_ACTIVE) pause_ns(100000);
    }
}

bool lease_take(struct core *core, struct vthread_record *record) {
    uint64_t own = lease_own(core), seen = atomic_load_explicit(&record->lease, memory_order_acquire);
    for (unsigned tries = 0;;) {
        if (seen == own) return true;
        if (holder_lives(core, seen)) {
            /* The byte lock of a dead one is held for a moment by whoever recovers it. */
            if (++tries == TAKE_TRIES || atomic_load_explicit(&record->status, memory_order_acquire) != STATUS_RUNNING) return false;
            pause_ns(50000);
            seen = atomic_load_explicit(&record->lease, memory_order_acquire);
            continue;
        }
        if (atomic_compare_exchange_strong_explicit(&record->lease, &seen, own, memory_order_acq_rel, memory_order_acquire)) {
            if (seen) settle(core, seen);
            return true;
        }
    }
}

void lease_drop(struct core *core, struct vthread_record *record) {
    uint64_t own = lease_own(core);
    /* Release: whoever takes it sees all that was done. */
    (void)atomic_compare_exchange_strong_explicit(&record->lease, &own, 0, memory_order_acq_rel, memory_order_relaxed);
}

bool lease_is_live(const struct core *core, const struct vthread_record *record) {
    return holder_lives(core, atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)&record->lease, memory_order_acquire));
}

void attention_ask(struct vthread_record *record, uint32_t bits) {
    /* Sequentially consistent: see look_begin. */
    atomic_fetch_or_explicit(&record->attention, bits, memory_order_seq_cst);
    platform_wake(&record->attention, UINT32_MAX);
}

/* ---- looking ---- */

static bool runs(const struct core *core, const struct vthread_record *record) {
    return atomic_load_explicit(&record->status, memory_order_seq_cst) == STATUS_RUNNING && lease_is_live(core, record);
}

static void looker_gone(struct vthread_record *record) {
    atomic_fetch_and_explicit(&record->attention, ~(uint32_t)ATTENTION_HOLD, memory_order_seq_cst);
}

/* The word that is asked for first is stored first: either the runner sees the attention before it begins, or we see that it runs. */
bool look_begin(struct core *core, struct vthread_record *record) {
    uint64_t own = lease_own(core), seen = 0;
    if (atomic_load_explicit(&record->lease, memory_order_acquire) == own) return true;
    int64_t deadline = clock_ns() + LOOK_QUEUE_NS;
    while (!atomic_compare_exchange_strong_explicit(&record->looker, &seen, own, memory_order_seq_cst, memory_order_seq_cst)) {
        if (seen == own) return false;
        if (!holder_lives(core, seen)) {
            if (atomic_compare_exchange_strong_explicit(&record->looker, &seen, own, memory_order_seq_cst, memory_order_seq_cst)) break;
        } else if (clock_ns() > deadline) {
            return false;
        } else {
            pause_ns(20000);
        }
        seen = 0;
    }
    atomic_store_explicit(&record->held, 0, memory_order_seq_cst);
    attention_ask(record, ATTENTION_HOLD);
    deadline = clock_ns() + LOOK_WAIT_NS;
    for (unsigned spins = 0; !atomic_load_explicit(&record->held, memory_order_acquire) && runs(core, record); spins++) {
        if (spins < LOOK_SPINS) continue;
        if (clock_ns() > deadline) {
            look_end(core, record);
            return false;
        }
        (void)platform_wait(&record->held, 0, STILL_SLICE_NS);
    }
    return true;
}

void look_end(struct core *core, struct vthread_record *record) {
    uint64_t own = lease_own(core);
    if (atomic_load_explicit(&record->looker, memory_order_acquire) != own) return;
    looker_gone(record);
    atomic_store_explicit(&record->looker, 0, memory_order_seq_cst);
    platform_wake(&record->held, UINT32_MAX);
}

void look_wait(struct core *core, struct vthread_record *record) {
    uint64_t looker;
    while ((looker = atomic_load_explicit(&record->looker, memory_order_seq_cst)) != 0) {
        atomic_store_explicit(&record->held, 1, memory_order_seq_cst);
        platform_wake(&record->held, UINT32_MAX);
        if (!holder_lives(core, looker)) {
            looker_gone(record);
            (void)atomic_compare_exchange_strong_explicit(&record->looker, &looker, 0, memory_order_seq_cst, memory_order_relaxed);
            break;
        }
        if (atomic_load_explicit(&record->looker, memory_order_seq_cst) == looker) (void)platform_wait(&record->held, 1, STILL_SLICE_NS);
    }
    atomic_store_explicit(&record->held, 0, memory_order_seq_cst);
}
