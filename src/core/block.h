/* Cells and blocks: how values lie in frames, maps and nodes (docs/tree.md §4), and the heap that they come from.
 * A cell is 16 bytes: a head (tag, flags, and what its place adds) and a payload. Scalars and short strings lie in the
 * payload; everything else is a reference-counted block in the arena, reached by a 32-bit reference in 16-byte units.
 * Relies on kinds.h and on an allocator behind struct heap (the engine's, or private memory in tests).
 * Promises: a block with one reference belongs to its holder and may be changed in place; with more it is immutable.
 * Releasing never recurses. A heap is used by one thread at a time; its blocks belong to one vthread at a time. */
#ifndef CORE_BLOCK_H
#define CORE_BLOCK_H

#include <stdatomic.h>
#include <string.h>

#include "core/mark.h"
#include "kvspace/kinds.h"

/* ---- errors ---- */

enum error_kind {
    ERROR_NONE = 0,
#define ERROR_KIND(name, text) ERROR_##name,
#include "core/errors.def"
#undef ERROR_KIND
    ERROR_KIND_COUNT
};

/* The name that the user sees: "TypeError". */
const char *error_kind_name(int kind);

/* The error of the step under way. Functions that take a heap give 0 or an error_kind, and leave the message here. */
struct fault {
    int kind;
    char message[512];
};

/* ---- cells ---- */

struct cell {
    uint64_t head; /* bits 0-7 tag, 8-15 flags; the rest belongs to the place where the cell lies */
    uint64_t payload;
};

/* The tag: 0 is None, 1 to 31 a scalar of that kind, 0x80 + kind an array of it (a string is an array of a char kind). */
enum {
    TAG_NONE = 0,
    TAG_MAP = 0x40,
    TAG_STRUCT = 0x41,
    TAG_POINTER = 0x42,  /* a block whose body the executor knows (frame cells, paths) */
    TAG_EXTERNAL = 0x43, /* a handle to data outside the tree */
    TAG_OTHER = 0x44,    /* a value of the tree's own types: type text and bytes */
    TAG_RANGE = 0x45,    /* what range() gives: an array of int64 that is not spelt out until somebody wants elements (array.h) */
    TAG_ARRAY = 0x80,
    TAG_TEXT = 0x80 + KIND_CHAR_UTF32
};

#define CELL_BLOCK UINT64_C(0x100)  /* the low half of the payload is a counted block */
#define CELL_INLINE UINT64_C(0x200) /* a short string lies in the payload: its units are counted in bits 12-15 */
#define CELL_VALUE_BITS UINT64_C(0xffff)
#define CELL_INLINE_SHIFT 12

static inline unsigned cell_tag(const struct cell *cell) { return (unsigned)(cell->head & 0xff); }
static inline bool cell_is_none(const struct cell *cell) { return cell_tag(cell) == TAG_NONE; }
static inline bool cell_is_scalar(const struct cell *cell) { return cell_tag(cell) - 1 < 31; }
static inline bool cell_is_array(const struct cell *cell) { return cell_tag(cell) >= TAG_ARRAY; }
static inline bool cell_is_text(const struct cell *cell) {
    return cell_tag(cell) - (TAG_ARRAY + KIND_CHAR_UTF32) <= KIND_CHAR_ASCII - KIND_CHAR_UTF32;
}
/* Kind of the scalar or of the array's elements. */
static inline unsigned cell_kind(const struct cell *cell) { return cell_tag(cell) & 0x1f; }

static inline struct cell cell_none(void) { return (struct cell){ 0, 0 }; }
static inline struct cell cell_scalar(unsigned kind, uint64_t bits) { return (struct cell){ kind, bits }; }
static inline struct cell cell_int64(int64_t value) { return (struct cell){ KIND_INT64, (uint64_t)value }; }
static inline struct cell cell_uint64(uint64_t value) { return (struct cell){ KIND_UINT64, value }; }
static inline struct cell cell_bool(bool value) { return (struct cell){ KIND_BOOL, value }; }
static inline struct cell cell_float64(double value) {
    struct cell cell = { KIND_FLOAT64, 0 };
    memcpy(&cell.payload, &value, sizeof value);
    return cell;
}
static inline struct cell cell_float32(float value) {
    struct cell cell = { KIND_FLOAT32, 0 };
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    cell.payload = bits;
    return cell;
}
static inline double cell_as_float64(const struct cell *cell) {
    double value;
    memcpy(&value, &cell->payload, sizeof value);
    return value;
}
static inline float cell_as_float32(const struct cell *cell) {
    uint32_t bits = (uint32_t)cell->payload;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline int64_t cell_as_int64(const struct cell *cell) { return (int64_t)cell->payload; }

/* Payload of a scalar from the bytes of one element: signed integers are extended by their sign, all else by zeros. */
static inline uint64_t scalar_load(unsigned kind, const void *element) {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (kind) {
    case KIND_INT8: memcpy(&i8, element, 1); return (uint64_t)(int64_t)i8;
    case KIND_INT16: memcpy(&i16, element, 2); return (uint64_t)(int64_t)i16;
    case KIND_INT32: memcpy(&i32, element, 4); return (uint64_t)(int64_t)i32;
    default: break;
    }
    switch (kind_size(kind)) {
    case 1: return *(const uint8_t *)element;
    case 2: memcpy(&u16, element, 2); return u16;
    case 4: memcpy(&u32, element, 4); return u32;
    case 8: memcpy(&u64, element, 8); return u64;
    default: return 0;
    }
}
static inline void scalar_store(unsigned kind, void *element, uint64_t bits) {
    uint16_t u16 = (uint16_t)bits;
    uint32_t u32 = (uint32_t)bits;
    switch (kind_size(kind)) {
    case 1: *(uint8_t *)element = (uint8_t)bits; break;
    case 2: memcpy(element, &u16, 2); break;
    case 4: memcpy(element, &u32, 4); break;
    case 8: memcpy(element, &bits, 8); break;
    default: break;
    }
}

/* ---- blocks ---- */

enum {
    BLOCK_DICT = 1, /* the body is a struct dict: cells inside are released with the block */
    BLOCK_NDIM_MAX = 8
};

struct block {
    uint32_t refs;
    uint32_t link;      /* list of blocks that are being released */
    uint32_t type;      /* type id of a map, struct or other value; 0 for arrays and strings */
    uint8_t ndim;
    uint8_t body_at;    /* in units of 16 bytes from here */
    uint16_t flags;
    uint64_t body_bytes; /* in use */
    uint64_t dims[];    /* ndim lengths; the block_extra stands right before the body */
};

struct block_extra {
    uint64_t capacity; /* bytes that the body may grow to */
    uint32_t hash;     /* of a string, 0: not known yet */
    uint32_t spare;
};

struct type_table;

/* Where blocks come from, and what a step needs beside its operands. */
struct heap {
    unsigned char *base; /* of the arena in this process; never moves while the heap lives */
    /* Gives `bytes` (aligned to 16, to 64 from 128 on), or an error_kind. *usable: what may be used, at least `bytes`. */
    int (*allocate)(struct heap *heap, uint64_t bytes, uint32_t *ref, uint64_t *usable);
    void (*release)(struct heap *heap, uint32_t ref);
    void *owner;              /* of the allocator */
    struct type_table *types; /* parsed forms of type texts, private to the process */
    struct fault fault;
    void *host; /* the executor's own: struct names, pointers */
    /* Prints a pointer's target, for println and messages; may be NULL. */
    int (*pointer_text)(struct heap *heap, const struct cell *pointer, char *out, size_t capacity);
    /* The definition of a struct by its type id; NULL when there is none (any more). May be NULL. */
    const struct struct_def *(*struct_find)(struct heap *heap, uint32_t type);
};

static inline struct block *block_at(const struct heap *heap, uint32_t ref) {
    return (struct block *)(void *)(heap->base + ((uint64_t)ref << 4));
}
static inline uint32_t cell_ref(const struct cell *cell) { return (uint32_t)cell->payload; }
static inline struct block *cell_block(const struct heap *heap, const struct cell *cell) {
    return block_at(heap, cell_ref(cell));
}
static inline void *block_body(const struct block *block) {
    return (unsigned char *)(uintptr_t)block + ((size_t)block->body_at << 4);
}
static inline struct block_extra *block_extra(const struct block *block) {
    return (struct block_extra *)block_body(block) - 1;
}
static inline uint32_t block_ref_of(const struct heap *heap, const struct block *block) {
    return (uint32_t)((uint64_t)((const unsigned char *)block - heap->base) >> 4);
}

/* A new block with one reference, dims unset, body unset, body_bytes = `body_bytes`, room for `capacity` (or more).
 * Gives 0 or ERROR_OUT_OF_MEMORY. */
int block_new(struct heap *heap, unsigned ndim, uint64_t body_bytes, uint64_t capacity, struct block **out);

/* The last reference is gone: frees the block and whatever only it held. */
void block_free(struct heap *heap, struct block *block);

static inline void cell_hold(struct heap *heap, const struct cell *cell) {
    if (cell->head & CELL_BLOCK) cell_block(heap, cell)->refs++;
}
static inline void cell_drop(struct heap *heap, struct cell cell) {
    if (cell.head & CELL_BLOCK) {
        struct block *block = cell_block(heap, &cell);
        if (--block->refs == 0) block_free(heap, block);
    }
}
/* A copy with a reference of its own; only the bits of the value are taken over. */
static inline struct cell cell_copy(struct heap *heap, const struct cell *cell) {
    cell_hold(heap, cell);
    return (struct cell){ cell->head & CELL_VALUE_BITS, cell->payload };
}
static inline struct cell cell_of_block(const struct heap *heap, unsigned tag, const struct block *block) {
    return (struct cell){ tag | CELL_BLOCK, block_ref_of(heap, block) };
}
/* Whether the holder of the cell may change its block in place. */
static inline bool cell_is_sole(const struct heap *heap, const struct cell *cell) {
    return (cell->head & CELL_BLOCK) && cell_block(heap, cell)->refs == 1;
}

/* Overwrites a cell inside a shared body so that a reader of its block, or a step that is repeated after a kill between the two stores,
 * never takes a number for a reference. The old value is the caller's to drop. */
static inline void cell_store(struct cell *place, struct cell value) {
    if (place->head & ~value.head & CELL_BLOCK) {
        place->head = value.head;
        atomic_signal_fence(memory_order_seq_cst);
        MARK();
        place->payload = value.payload;
    } else {
        place->payload = value.payload;
        atomic_signal_fence(memory_order_seq_cst);
        MARK();
        place->head = value.head;
    }
}

/* Leaves an error: `kind` and a message as printf would make it. fault(…) gives `kind`, which compilers and analyzers see to be
 * an error at the place of the call. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void fault_set(struct heap *heap, int kind, const char *format, ...);
#define fault(heap, kind, ...) (fault_set(heap, kind, __VA_ARGS__), (kind))

/* A heap in private memory of at most `limit` bytes, for tests and for work that leaves no trace in a space.
 * Gives 0 or ERROR_OUT_OF_MEMORY; heap_private_close gives everything back. `blocks` counts what is allocated. */
int heap_private_open(struct heap *heap, uint64_t limit);
void heap_private_close(struct heap *heap);
uint64_t heap_private_blocks(const struct heap *heap);

#endif
