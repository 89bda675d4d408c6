/* Size classes over chunks. Every block has 16 bytes in front of it: its class, or the number of the value that it is alone in.
 * Relies on memory.h. Classes: multiples of 16 up to 256 bytes, then four a doubling up to 64 KiB, all told with the 16 bytes;
 * from 128 on multiples of 64, so that blocks lie on cache lines. Bigger blocks are values of their own. */
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree_value.h"
#include "kvspace/space.h"

enum { CHUNK_BYTES = 1 << 20, SMALL_MAX = 1 << 16 };
#define BIG UINT32_MAX

struct memory_head {
    uint32_t class; /* BIG: alone in value `number` */
    uint32_t next;  /* while free */
    uint64_t number;
};
_Static_assert(sizeof(struct memory_head) == 16, "blocks stay aligned");

static struct memory_head *head_of(const struct heap *heap, uint32_t ref) {
    return (struct memory_head *)(void *)(heap->base + ((uint64_t)ref << 4)) - 1;
}

/* The class of a size with its head, and the size of the class. */
static unsigned class_of(uint64_t bytes, uint64_t *size) {
    if (bytes <= 112) {
        *size = (bytes + 15) & ~UINT64_C(15);
        return (unsigned)(*size / 16);
    }
    unsigned log2 = 63u - (unsigned)__builtin_clzll(bytes - 1); /* 2^log2 < bytes ≤ 2^(log2+1) */
    uint64_t step = UINT64_C(1) << (log2 < 8 ? 6 : log2 - 2);
    *size = (bytes + step - 1) / step * step;
    return log2 < 8 ? 8 + (unsigned)(*size / 64) : 14 + (log2 - 8) * 4 + (unsigned)((*size >> (log2 - 2)) - 4);
}

static int big_key(uint64_t number, char *key, size_t capacity) {
    return snprintf(key, capacity, "/vthread/‥heap/‥%llu", (unsigned long long)number);
}

/* A value of `bytes` bytes in the space that stays where it is; *at in bytes from the base. */
static int chunk_new(struct core_memory *memory, struct heap *heap, uint64_t bytes, uint64_t *at, uint64_t *number) {
    int64_t count;
    char key[64];
    int rc = kvspace_incr(memory->space, "/vthread/‥heap", 1, &count);
    if (rc) return rc;
    *number = (uint64_t)count;
    big_key(*number, key, sizeof key);
    struct kvspace_value head = kvspace_value_array(KVSPACE_UINT8, 1, &bytes, NULL);
    struct kvspace_write write;
    rc = kvspace_write_begin(memory->space, key, &head, &write);
    if (rc) return rc;
    *at = (uint64_t)((unsigned char *)write.body - heap->base);
    return kvspace_write_publish(&write);
}

static int memory_fault(struct heap *heap, int rc, uint64_t bytes) {
    struct core *core = heap->host;
    return fault(heap, ERROR_OUT_OF_MEMORY, "no room for %llu bytes: %s", (unsigned long long)bytes,
                 rc ? kvspace_message(core->space) : "the size is out of range");
}

static int allocate_big(struct heap *heap, uint64_t bytes, uint32_t *ref, uint64_t *usable) {
    struct core_memory *memory = heap->owner;
    uint64_t at, number;
    if (bytes > UINT64_C(1) << 46) return memory_fault(heap, 0, bytes);
    int rc = chunk_new(memory, heap, bytes + 64, &at, &number);
    if (rc) return memory_fault(heap, rc, bytes);
    *ref = (uint32_t)((at + 64) >> 4);
    *head_of(heap, *ref) = (struct memory_head){ .class = BIG, .number = number };
    *usable = bytes & ~UINT64_C(15);
    return 0;
}

/* What the last runtime left: taken by deleting it, so that one of several takers wins. Only asked for when memory is needed, so
 * that whoever merely looks takes nothing. */
static void take_left(struct core_memory *memory) {
    struct kvspace_value left;
    memory->asked = true;
    if (kvspace_get(memory->space, "/vthread/‥heap/‥free", &left) || left.body_bytes != sizeof memory->free + 16) return;
    uint64_t bump[2];
    uint32_t free_lists[MEMORY_CLASSES];
    memcpy(free_lists, left.body, sizeof free_lists);
    memcpy(bump, (const unsigned char *)left.body + sizeof free_lists, sizeof bump);
    if (kvspace_del(memory->space, "/vthread/‥heap/‥free")) return;
    memcpy(memory->free, free_lists, sizeof free_lists);
    memory->bump = bump[0];
    memory->bump_end = bump[1];
}

static int memory_allocate(struct heap *heap, uint64_t bytes, uint32_t *ref, uint64_t *usable) {
    struct core_memory *memory = heap->owner;
    if (bytes > SMALL_MAX - 16) return allocate_big(heap, bytes, ref, usable);
    uint64_t size;
    unsigned class = class_of(bytes + 16, &size);
    *usable = size - 16;
    uint32_t first = memory->free[class];
    if (first) {
        *ref = first;
        memory->free[class] = head_of(heap, first)->next;
        return 0;
    }
    /* Blocks of 64 bytes and more begin on a cache line: the head lies in the 16 bytes before it. */
    uint64_t at = memory->bump + 16;
    if (size >= 128) at = (at + 63) & ~UINT64_C(63);
    if (at + size > memory->bump_end) {
        if (!memory->asked) {
            take_left(memory);
            return memory_allocate(heap, bytes, ref, usable);
        }
        uint64_t begin, number;
        int rc = chunk_new(memory, heap, CHUNK_BYTES, &begin, &number);
        if (rc) return memory_fault(heap, rc, bytes);
        memory->bump_end = begin + CHUNK_BYTES;
        at = (begin + 16 + 63) & ~UINT64_C(63);
    }
    memory->bump = at + size - 16;
    *ref = (uint32_t)(at >> 4);
    *head_of(heap, *ref) = (struct memory_head){ .class = class };
    return 0;
}

static void memory_release(struct heap *heap, uint32_t ref) {
    struct core_memory *memory = heap->owner;
    struct memory_head *head = head_of(heap, ref);
    if (head->class == BIG) {
        char key[64];
        big_key(head->number, key, sizeof key);
        kvspace_del(memory->space, key);
        return;
    }
    if (head->class >= MEMORY_CLASSES) return; /* damage: better to leak it */
    head->next = memory->free[head->class];
    memory->free[head->class] = ref;
}

int memory_open(struct core *core) {
    struct core_memory *memory = calloc(1, sizeof *memory);
    if (!memory) return ERROR_OUT_OF_MEMORY;
    memory->space = core->space;
    core->memory = memory;
    core->heap.base = core->space->arena.base;
    core->heap.allocate = memory_allocate;
    core->heap.release = memory_release;
    core->heap.owner = memory;
    core->heap.host = core;
    return 0;
}

void memory_close(struct core *core) {
    struct core_memory *memory = core->memory;
    if (!memory) return;
    unsigned char body[sizeof memory->free + 16];
    memcpy(body, memory->free, sizeof memory->free);
    memcpy(body + sizeof memory->free, &memory->bump, 8);
    memcpy(body + sizeof memory->free + 8, &memory->bump_end, 8);
    uint64_t bytes = sizeof body;
    struct kvspace_value value = kvspace_value_array(KVSPACE_UINT8, 1, &bytes, body);
    if (memory->bump_end && kvspace_exists(core->space, "/vthread/‥heap/‥free") != 0) kvspace_set(core->space, "/vthread/‥heap/‥free", &value);
    free(memory);
    core->memory = NULL;
}
