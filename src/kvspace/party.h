/* Participants: life, locks, epochs, pins, and recovery of the dead.
 * A participant is alive exactly as long as its byte-range lock on the space's file is held. Whoever recovers a dead one
 * holds that lock while it does, and acts as the dead one: should it die too, the next finds the same slot, one step on.
 * Relies on arena.h, alloc.h. Promises: no wait for the dead longer than the kernel needs to drop their byte lock. */
#ifndef KVSPACE_PARTY_H
#define KVSPACE_PARTY_H

#include "kvspace/arena.h"

/* ---- life (called by arena_open and arena_close) ---- */
int party_join(struct arena *arena, const char *label);
void party_leave(struct arena *arena);
/* Whether somebody holds the slot's byte lock (about a microsecond). Our own slot: true. */
bool party_alive(const struct arena *arena, uint32_t slot);
/* Recovers every dead participant, both phases. Hold no lock. Also called by check and by those who find no memory left. */
void party_recover_all(struct arena *arena);

/* ---- epoch: memory seen inside stays readable until the outermost exit ---- */
/* EUSAGE in a process that was forked off the one which opened the handle. Nests. */
int party_enter(struct arena *arena);
void party_exit(struct arena *arena);
/* Inside a long operation that holds no borrowed references at this moment: lets the epoch pass. */
void party_refresh(struct arena *arena);
/* Tries to advance the global epoch; true if it moved. */
bool party_advance(struct arena *arena);

/* ---- locks: 32-bit words anywhere in the space; parent before child, tree before allocator ---- */
/* Takes the lock, over a dead owner's head if need be (then its operation has been settled). At most PARTY_HELD_MAX at a
 * time, and never the same twice. */
void party_lock(struct arena *arena, _Atomic uint32_t *word);
void party_unlock(struct arena *arena, _Atomic uint32_t *word);
/* Whether self is the owner. */
bool party_holds(const struct arena *arena, const _Atomic uint32_t *word);

/* ---- the intent of the operation under way ----
 * Order: fill words, then intent_begin; the commit store; intent_end. All before the unlock. */
static inline void intent_word(struct arena *arena, unsigned at, uint64_t value) {
    atomic_store_explicit(&arena->self->intent.word[at], value, memory_order_relaxed);
}
static inline void intent_begin(struct arena *arena, uint32_t kind) {
    atomic_store_explicit(&arena->self->intent.kind, kind, memory_order_release);
}
static inline void intent_step(struct arena *arena, uint32_t step) {
    atomic_store_explicit(&arena->self->intent.step, step, memory_order_release);
}
/* Release: the operation's stores come before it is forgotten. */
static inline void intent_end(struct arena *arena) {
    atomic_store_explicit(&arena->self->intent.kind, 0, memory_order_release);
}

#endif
