/* The intern table as its own file and the check see it (step.c, check_steps.c). Relies on step.h. */
#ifndef KVSPACE_STEP_PARTS_H
#define KVSPACE_STEP_PARTS_H

#include "kvspace/step.h"

struct shard_table {
    uint32_t mask, filled, spare[2];
    _Atomic uint32_t slot[];
};

enum { SLOT_GONE = 1 };

static inline uint64_t shard_table_bytes(uint64_t slots) { return sizeof(struct shard_table) + slots * sizeof(uint32_t); }

/* NULL: damaged. */
struct shard_table *shard_table_at(const struct kvspace *space, uint32_t ref);
struct shard *shard_of(struct kvspace *space, uint32_t hash);
/* The slot that refers to the text, or NULL; *free_slot gets where it would go. */
_Atomic uint32_t *shard_find(const struct kvspace *space, struct shard_table *table, const char *text, uint32_t bytes, uint32_t hash,
                             uint8_t kind, _Atomic uint32_t **free_slot);
/* Fills the table's slots from `count` references to records with different texts. */
void shard_fill(const struct kvspace *space, struct shard_table *table, const uint32_t *refs, uint32_t count);
/* Puts a complete record with a count of its own into the table; its text must not be there. For repair. */
int step_adopt(struct kvspace *space, uint32_t ref);

#endif
