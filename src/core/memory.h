/* The heap of a runtime: blocks of vthreads in the space, in chunks that the tree keeps under /vthread/‥heap.
 * Relies on kvspace.h (zero-copy writes) for the chunks. Promises: a block costs some nanoseconds and no lock; chunks are ordinary
 * values of the tree, so `check` knows them and deleting /vthread gives them back; a runtime that closes leaves its free
 * blocks to the next (`/vthread/‥heap/‥free`), one that dies leaks what it held free. */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include "core/runtime.h"

enum { MEMORY_CLASSES = 64 };

struct core_memory {
    kvspace *space;
    uint32_t free[MEMORY_CLASSES];
    uint64_t bump, bump_end; /* bytes from the base: the chunk that blocks are cut from */
    bool asked;              /* for what the last runtime left */
};

int memory_open(struct core *core);
void memory_close(struct core *core);

#endif
