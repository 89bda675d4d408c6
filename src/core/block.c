/* Blocks: making them, releasing them without recursion, and the messages of errors; a heap in private memory.
 * Relies on block.h and map.h (the shape of a dictionary's body, to find the cells in it). Promises: see block.h. */
#include "core/block.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/map.h"
#include "core/types.h"

static const char *const error_names[ERROR_KIND_COUNT] = {
    [ERROR_NONE] = "",
#define ERROR_KIND(name, text) [ERROR_##name] = text,
#include "core/errors.def"
#undef ERROR_KIND
};

const char *error_kind_name(int kind) {
    return kind > 0 && kind < ERROR_KIND_COUNT ? error_names[kind] : "";
}

void fault_set(struct heap *heap, int kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(heap->fault.message, sizeof heap->fault.message, format, arguments);
    va_end(arguments);
    heap->fault.kind = kind;
}

int block_new(struct heap *heap, unsigned ndim, uint64_t body_bytes, uint64_t capacity, struct block **out) {
    if (capacity < body_bytes) capacity = body_bytes;
    uint64_t at = sizeof(struct block) + 8 * ndim + sizeof(struct block_extra);
    at = (at + 15) & ~UINT64_C(15);
    if (capacity >= 64) at = (at + 63) & ~UINT64_C(63); /* numeric bodies are read by vector code */
    uint32_t ref;
    uint64_t usable;
    if (capacity > UINT64_MAX / 2 || heap->allocate(heap, at + capacity, &ref, &usable))
        return fault(heap, ERROR_OUT_OF_MEMORY, "no room for a value of %llu bytes", (unsigned long long)capacity);
    struct block *block = block_at(heap, ref);
    block->refs = 1;
    block->link = 0;
    block->type = 0;
    block->ndim = (uint8_t)ndim;
    block->body_at = (uint8_t)(at >> 4);
    block->flags = 0;
    block->body_bytes = body_bytes;
    struct block_extra *extra = block_extra(block);
    extra->capacity = usable - at;
    extra->hash = 0;
    extra->spare = 0;
    *out = block;
    return 0;
}

/* Lowers the count of a cell's block; a block that nobody holds any more joins the list. */
static struct block *cell_unlink(struct heap *heap, const struct cell *cell, struct block *list) {
    if (!(cell->head & CELL_BLOCK)) return list;
    struct block *block = cell_block(heap, cell);
    if (--block->refs) return list;
    block->link = list ? block_ref_of(heap, list) : 0;
    return block;
}

void block_free(struct heap *heap, struct block *block) {
    block->link = 0;
    for (struct block *list = block; list;) {
        struct block *dead = list;
        list = dead->link ? block_at(heap, dead->link) : NULL;
        if (dead->flags & BLOCK_DICT) {
            const struct dict *dict = (const struct dict *)block_body(dead);
            const struct dict_entry *entries = dict_entries(dict);
            for (uint32_t i = 0; i < dict->used; i++) {
                if (cell_is_none(&entries[i].key)) continue;
                list = cell_unlink(heap, &entries[i].key, list);
                list = cell_unlink(heap, &entries[i].value, list);
            }
        }
        heap->release(heap, block_ref_of(heap, dead));
    }
}

/* ---- a heap in private memory ---- */

enum { PRIVATE_CLASSES = 40, PRIVATE_UNIT = 64 };

struct private_heap {
    void *memory;
    uint64_t limit, used;      /* bytes from base */
    uint64_t blocks;           /* allocated now */
    unsigned char *classes;    /* of each unit that starts a block */
    uint32_t list[PRIVATE_CLASSES];
};

/* Sizes are 64 bytes and its doublings. */
static unsigned private_class(uint64_t bytes) {
    unsigned class = 0;
    while (((uint64_t)PRIVATE_UNIT << class) < bytes) class++;
    return class;
}

static int private_allocate(struct heap *heap, uint64_t bytes, uint32_t *ref, uint64_t *usable) {
    struct private_heap *own = heap->owner;
    if (bytes > own->limit) return ERROR_OUT_OF_MEMORY;
    unsigned class = private_class(bytes);
    uint64_t size = (uint64_t)PRIVATE_UNIT << class;
    if (own->list[class]) {
        *ref = own->list[class];
        memcpy(&own->list[class], block_at(heap, *ref), sizeof(uint32_t));
    } else {
        if (size > own->limit - own->used) return ERROR_OUT_OF_MEMORY;
        *ref = (uint32_t)(own->used >> 4);
        own->classes[own->used / PRIVATE_UNIT] = (unsigned char)class;
        own->used += size;
    }
    own->blocks++;
    *usable = size;
    return 0;
}

static void private_release(struct heap *heap, uint32_t ref) {
    struct private_heap *own = heap->owner;
    unsigned class = own->classes[((uint64_t)ref << 4) / PRIVATE_UNIT];
    memcpy(block_at(heap, ref), &own->list[class], sizeof(uint32_t));
    own->list[class] = ref;
    own->blocks--;
}

int heap_private_open(struct heap *heap, uint64_t limit) {
    memset(heap, 0, sizeof *heap);
    struct private_heap *own = calloc(1, sizeof *own);
    if (!own) return ERROR_OUT_OF_MEMORY;
    own->limit = limit & ~UINT64_C(63);
    own->memory = malloc(own->limit + 64);
    own->classes = calloc(1, own->limit / PRIVATE_UNIT + 1);
    own->used = PRIVATE_UNIT; /* reference 0 is none */
    if (!own->memory || !own->classes) {
        free(own->memory);
        free(own->classes);
        free(own);
        return ERROR_OUT_OF_MEMORY;
    }
    heap->base = (unsigned char *)(((uintptr_t)own->memory + 63) & ~(uintptr_t)63);
    heap->allocate = private_allocate;
    heap->release = private_release;
    heap->owner = own;
    return 0;
}

void heap_private_close(struct heap *heap) {
    types_close(heap);
    struct private_heap *own = heap->owner;
    free(own->memory);
    free(own->classes);
    free(own);
    memset(heap, 0, sizeof *heap);
}

uint64_t heap_private_blocks(const struct heap *heap) { return ((const struct private_heap *)heap->owner)->blocks; }
