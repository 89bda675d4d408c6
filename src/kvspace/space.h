/* The handle of an open space, and what the tree asks of the memory below it (mem_*).
 * Relies on arena.h, party.h, alloc.h. Promises: the tree's own files touch shared memory only through node.h and these
 * functions; every operation is begun with space_begin and ends with space_end, which leaves the read side and settles memory. */
#ifndef KVSPACE_SPACE_H
#define KVSPACE_SPACE_H

#include "kvspace/alloc.h"
#include "kvspace/arena.h"
#include "kvspace/node.h"
#include "kvspace/party.h"

#include <kvspace/kvspace.h>
#include <string.h>

enum { SPACE_PROVIDERS_MAX = 16, SPACE_WRITES_MAX = 64, SPACE_LEND_COPY_MAX = 512 };

/* Copies and memory that were lent to the caller since the last call, or in the read section. */
struct lend_chunk {
    struct lend_chunk *next;
    size_t used, capacity;
    _Alignas(64) unsigned char bytes[];
};

/* In the space: how a change that must not be made twice tells, also when its maker dies, whether it has been made. Whoever sets
 * space->once to one gets `done` set to 1 by the next change of a value (tree_put), or by whoever recovers its maker. */
struct once_mark {
    _Atomic uint64_t done;
    _Atomic uint64_t result; /* the maker's own, written before the change */
};

struct kvspace {
    struct arena arena;
    struct once_mark *once; /* of the change under way; NULL: none */
    struct tree_root *tree;
    uint32_t root;
    uint32_t owner;
    uint32_t read_depth;
    uint8_t is_read_only;
    uint8_t is_anonymous;
    uint8_t is_new_anonymous; /* this handle made it */
    uint8_t keep; /* enum kvspace_keep */
    uint8_t lent; /* something is lent: the next call outside of a read section takes it back */
    struct lend_chunk *chunks;
    uint32_t *pins; /* blocks that are lent */
    size_t pin_count, pin_capacity;
    uint64_t stage_count;
    uint32_t writes_open;
    uint32_t provider_count;
    const struct kvspace_provider *provider[SPACE_PROVIDERS_MAX];
    struct kvspace_open_options options;
    char *dsn;
    char *file;
    char label[32];
    char message[512];
};

/* Leaves a message on the handle and gives the code. `format` may be NULL: the code's own text with the key. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
int space_error(const kvspace *space, int code, const char *key, const char *format, ...);

/* Finds the tree's own record and root in the header. EDAMAGED. */
int space_bind(kvspace *space);

/* Begins a call: takes back what was lent outside of a read section, enters the epoch. EUSAGE in a forked child. */
static inline int space_begin(kvspace *space);
static inline void space_end(kvspace *space);
void space_take_back(kvspace *space);

/* Memory that lives as long as what is lent. NULL: out of memory. Aligned to 64. */
void *space_lend(kvspace *space, size_t bytes);
/* Pins a block until what is lent is taken back. Gives 0, ENOMEM, or EAGAIN when the block has just been given up. */
int space_pin(kvspace *space, uint32_t block);

/* ---- memory: short names for alloc.h and party.h ---- */

static inline int mem_take(kvspace *space, uint64_t bytes, uint32_t *ref) { return alloc_take(&space->arena, bytes, ref); }
static inline void mem_keep(kvspace *space, uint32_t ref) { alloc_keep(&space->arena, ref); }
static inline void mem_give(kvspace *space, uint32_t ref) { alloc_give(&space->arena, ref); }
static inline void mem_retire(kvspace *space, uint32_t ref) { alloc_retire(&space->arena, ref); }
static inline void mem_lock(kvspace *space, _Atomic uint32_t *lock) { party_lock(&space->arena, lock); }
static inline void mem_unlock(kvspace *space, _Atomic uint32_t *lock) { party_unlock(&space->arena, lock); }
static inline struct space_header *mem_header(const kvspace *space) { return space->arena.header; }

static inline int space_begin(kvspace *space) {
    if (space->lent && !space->read_depth) space_take_back(space);
    return party_enter(&space->arena);
}
static inline void space_end(kvspace *space) { party_exit(&space->arena); }

/* After a change that everybody sees: what is below /lib (but for its system variables, where functions are built) is code. */
static inline void space_wrote(kvspace *space, const char *key) {
    if (strncmp(key, "/lib", 4) == 0 && strncmp(key + 4, "/‥", 4) != 0)
        atomic_fetch_add_explicit(&space->arena.header->code_changes, 1, memory_order_release);
}

#endif
