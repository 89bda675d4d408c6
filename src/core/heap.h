/* The core's blocks: reference-counted memory in the space for strings, arrays, maps and structs of running vthreads.
 * Relies on an arena that hands out big pieces (the engine's, or a private mapping in unit tests). Promises: O(1) without
 * a system call; references are in 16-byte units from the arena's base, so that they mean the same in every process.
 *
 * A block belongs to one vthread: what goes to another vthread or into the tree is copied. So counts are plain numbers, and
 * a block with refs == 1 may be changed in place by whoever holds that reference (copy-on-write for the others).
 * A process killed in the middle leaks at most what it held free; it never leaves a dangling reference. */
#ifndef CORE_HEAP_H
#define CORE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum block_form { BLOCK_FREE = 0, BLOCK_TEXT, BLOCK_ARRAY, BLOCK_MAP, BLOCK_POINTER, BLOCK_RANGE, BLOCK_RAW };

/* 32 bytes, then (arrays of 2 axes and more) 8 dims of 8 bytes, then the body: heap_body.
 *   TEXT   kind = its char kind, count = code points (utf32, ascii) or bytes (utf8); body = the units
 *   ARRAY  kind = of the elements, ndim, count = number of elements; dims only if ndim >= 2 (ndim 1: count is the length)
 *   MAP    count, see map.h; `type` = ref of a TEXT block in utf8 with the type expression (struct: its path), 0: inferred
 *   POINTER count = bytes of the key in UTF-8
 *   RANGE  body: int64 from, to, step
 *   RAW    whatever its owner says */
struct block {
    uint32_t refs;
    uint8_t form, kind, ndim, size_class;
    uint64_t count;
    uint64_t body_bytes; /* room behind the header (and dims), at least what was asked for */
    uint32_t type;
    uint32_t extra; /* its owner's (map.h: log2 of the index and such) */
};

enum { HEAP_CLASSES = 80 };

/* One per runtime, used by one thread. */
struct heap {
    uint8_t *base; /* of the arena */
    uint32_t free[HEAP_CLASSES];
    uint32_t bump, bump_end;
    int (*more)(void *context, uint64_t bytes, uint32_t *ref); /* 0, or an error code */
    void (*less)(void *context, uint32_t ref, uint64_t bytes);
    void *context;
    uint64_t live_bytes;
};

static inline struct block *heap_block(const struct heap *heap, uint32_t ref) {
    return (struct block *)(void *)(heap->base + (uint64_t)ref * 16);
}
static inline uint64_t *block_dims(struct block *block) { return (uint64_t *)(void *)(block + 1); }
static inline void *block_body(struct block *block) {
    return (uint8_t *)(block + 1) + (block->form == BLOCK_ARRAY && block->ndim >= 2 ? 64 : 0);
}
static inline void *heap_body(const struct heap *heap, uint32_t ref) { return block_body(heap_block(heap, ref)); }

/* A block with one reference; count, type, extra, ndim and the body are not initialised except that count, type and extra
 * are 0 and `ndim` is as given. 0 when the space is full. body_bytes does not include the dims. */
uint32_t heap_alloc(struct heap *heap, enum block_form form, unsigned kind, unsigned ndim, uint64_t body_bytes);

static inline void heap_ref(const struct heap *heap, uint32_t ref) { heap_block(heap, ref)->refs++; }

/* Gives the memory of one block back, without looking at what it refers to. */
void heap_free(struct heap *heap, uint32_t ref);

/* Raw memory for records of the core (stack segments and vthreads), in units of 16 bytes, zeroed; 0 when full. */
uint32_t heap_raw(struct heap *heap, uint64_t bytes);

/* A heap over a private mapping of `limit` bytes, for tests and tools; 0 or -1. heap_private_close gives it back. */
int heap_private_open(struct heap *heap, uint64_t limit);
void heap_private_close(struct heap *heap);

#endif
