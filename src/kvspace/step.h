/* Interned texts: the names of steps and the types of values, each once per space, with a count of uses.
 * 64 shards by hash, each a growing open-addressing table of references under a lock of its own. Only writers that make or
 * drop nodes come here; readers compare through the reference in a node. Relies on node.h, space.h.
 * Promises: a process killed in between leaves at most a use too many (the record stays until check --repair), never one
 * too few. */
#ifndef KVSPACE_STEP_H
#define KVSPACE_STEP_H

#include "kvspace/node.h"
#include "kvspace/space.h"

/* The record of the text, with one more use that belongs to the caller. kind: STEP_OF_CHILD, STEP_OF_MEMBER, STEP_IS_TYPE. */
int step_intern(struct kvspace *space, const char *text, uint32_t bytes, uint32_t hash, uint8_t kind, uint32_t *ref);

/* Gives a use back; the last one removes the record (readers may see it until their epoch ends). 0 is allowed. */
void step_drop(struct kvspace *space, uint32_t ref);

#endif
