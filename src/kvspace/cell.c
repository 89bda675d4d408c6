/* Cells and value blocks of nodes (cell.h).
 *
 *     block: {refs, link, type, ndim, body_at, ref and store, kind, body_bytes, dims[ndim]} padding, body
 *
 * The body begins at the next 16 bytes, of an ndarray of 64 bytes or more at the next 64 (blocks of that size are aligned
 * to 64). Relies on step.h for the texts of types and on alloc.h for blocks. */
#include "kvspace/cell.h"

#include "kvspace/kinds.h"
#include "kvspace/path.h"
#include "kvspace/step.h"

#include <string.h>

static const char provider_prefix[] = "provider/";

static uint32_t body_offset(const struct shape *shape) {
    uint64_t head = sizeof(struct value_block) + shape->ndim * sizeof(uint64_t);
    uint64_t align = shape->store == KVSPACE_NDARRAY && shape->body_bytes >= 64 ? 64 : 16;
    return (uint32_t)((head + align - 1) / align * align);
}

static unsigned tag_of(const struct shape *shape) {
    if (shape->ref == KVSPACE_INLINE && shape->store == KVSPACE_EXTINDEX) return NODE_TAG_OVERLAY;
    if (shape->ref == KVSPACE_INLINE && shape->store == KVSPACE_ATOM && !shape->kind &&
        shape->type_bytes > sizeof provider_prefix - 1 && memcmp(shape->type, provider_prefix, sizeof provider_prefix - 1) == 0)
        return NODE_TAG_PROVIDER;
    return NODE_TAG_BLOCK;
}

static int make_block(kvspace *space, const struct shape *shape, uint32_t *ref) {
    uint32_t at = body_offset(shape), type = 0;
    int rc = 0;
    if (shape->body_bytes > FORMAT_LIMIT_MAX) return KVSPACE_EFULL;
    if (shape->type_bytes) {
        uint32_t hash = path_hash(shape->type, shape->type_bytes, false);
        rc = step_intern(space, shape->type, shape->type_bytes, hash, STEP_IS_TYPE, &type);
    }
    if (!rc) rc = mem_take(space, at + shape->body_bytes, ref);
    if (rc) return rc;
    struct value_block *block = arena_at(&space->arena, *ref, at + shape->body_bytes);
    if (!block) return KVSPACE_EDAMAGED;
    atomic_store_explicit(&block->refs, 1, memory_order_relaxed);
    block->link = 0;
    block->type = type;
    block->ndim = shape->ndim;
    block->body_at = (uint8_t)(at / 16);
    block->shape = (uint8_t)(shape->ref | shape->store << 2);
    block->kind = shape->kind;
    block->body_bytes = shape->body_bytes;
    memcpy(block->dims, shape->dims, shape->ndim * sizeof *shape->dims);
    if (shape->body && shape->body_bytes) memcpy((unsigned char *)block + at, shape->body, (size_t)shape->body_bytes);
    return 0;
}

int cell_make(kvspace *space, const struct shape *shape, struct tree_value *out) {
    uint64_t head = (uint64_t)shape->owner << 32 | (shape->ro ? NODE_FLAG_RO : 0);
    *out = (struct tree_value){.block = 0};
    if (shape->is_none) return 0;
    if (!shape->owner) head |= (uint64_t)space->owner << 32;
    if (shape->kind && !shape->ndim && !shape->ref) {
        out->cell.head = head | shape->kind;
        memcpy(&out->cell.payload, shape->body, kind_size(shape->kind));
        return 0;
    }
    int rc = make_block(space, shape, &out->block);
    out->cell.head = head | tag_of(shape);
    out->cell.payload = out->block;
    out->is_container = shape->ref == KVSPACE_INLINE && (shape->store == KVSPACE_INDEX || shape->store == KVSPACE_EXTINDEX);
    return rc;
}

void cell_discard(kvspace *space, const struct tree_value *value) {
    if (value->block) mem_give(space, value->block);
}

/* The block of a cell if its head makes sense, and all of its body lies in the space. */
static struct value_block *block_of(const kvspace *space, struct cell_value cell) {
    struct value_block *block = arena_at(&space->arena, (uint32_t)cell.payload, sizeof *block);
    if (!block || cell.payload >> 32) return NULL;
    uint64_t body_bytes = block->body_bytes, at = (uint64_t)block->body_at * 16, bytes;
    if (block->ndim > KVSPACE_NDIM_MAX || block->kind >= KIND_COUNT || body_bytes > FORMAT_LIMIT_MAX) return NULL;
    if (at < sizeof *block + block->ndim * sizeof(uint64_t) || (block->shape & 3) > KVSPACE_EXTERNAL || block->shape >> 2 > KVSPACE_EXTINDEX)
        return NULL;
    if (!arena_at(&space->arena, (uint32_t)cell.payload, at + body_bytes)) return NULL;
    if (block->kind && !(block->shape & 3) &&
        (!block->ndim || !shape_bytes(block->kind, block->ndim, block->dims, &bytes) || bytes != body_bytes))
        return NULL;
    return block;
}

void *cell_body(const kvspace *space, uint32_t ref) {
    struct value_block *block = block_of(space, (struct cell_value){NODE_TAG_BLOCK, ref});
    return block ? (unsigned char *)block + (size_t)block->body_at * 16 : NULL;
}

static void describe(struct cell_value cell, struct kvspace_value *out) {
    out->ro = (cell.head & NODE_FLAG_RO) != 0;
    out->owner = (uint32_t)(cell.head >> 32);
    memset(out->reserved, 0, sizeof out->reserved);
}

static int look_scalar(struct cell_value cell, struct kvspace_value *out) {
    unsigned kind = cell_value_tag(cell);
    if (kind >= KIND_COUNT) return KVSPACE_EDAMAGED;
    out->ref = KVSPACE_INLINE;
    out->store = KVSPACE_ATOM;
    out->kind = (uint8_t)kind;
    out->ndim = 0;
    out->type = kind_name(kind);
    out->type_bytes = kind_row(kind)->name_bytes;
    out->dims = NULL;
    out->body = out->scalar.bytes;
    out->body_bytes = kind_size(kind);
    memcpy(out->scalar.bytes, &cell.payload, 8);
    describe(cell, out);
    return 0;
}

int cell_look(const kvspace *space, struct cell_value cell, struct kvspace_value *out) {
    if (cell_value_tag(cell) == NODE_TAG_NONE || cell_value_tag(cell) == NODE_TAG_HIDDEN) {
        *out = (struct kvspace_value){0};
        return 0;
    }
    if (!cell_value_is_block(cell)) return look_scalar(cell, out);
    const struct value_block *block = block_of(space, cell);
    if (!block) return KVSPACE_EDAMAGED;
    out->ref = block->shape & 3;
    out->store = block->shape >> 2;
    out->kind = block->kind;
    out->ndim = block->ndim;
    out->type = kind_name(block->kind);
    out->type_bytes = kind_row(block->kind)->name_bytes;
    if (block->type) {
        const struct step *type = step_at(&space->arena, block->type);
        if (!type) return KVSPACE_EDAMAGED;
        out->type = type->text;
        out->type_bytes = type->bytes;
    }
    out->dims = block->ndim ? block->dims : NULL;
    out->body = (const unsigned char *)block + (size_t)block->body_at * 16;
    out->body_bytes = block->body_bytes;
    out->scalar.u64 = 0;
    describe(cell, out);
    return 0;
}

/* A copy costs less than a pin, and does not make readers write to the same line. */
static int lend_copy(kvspace *space, struct kvspace_value *out) {
    size_t dims_bytes = out->ndim * sizeof(uint64_t), front = (size_t)(out->body_bytes + 7) / 8 * 8;
    unsigned char *memory = space_lend(space, front + dims_bytes);
    if (!memory) return KVSPACE_ENOMEM;
    memcpy(memory, out->body, (size_t)out->body_bytes);
    if (out->ndim) {
        memcpy(memory + front, out->dims, dims_bytes);
        out->dims = (const uint64_t *)(const void *)(memory + front);
    }
    out->body = memory;
    return 0;
}

int cell_lend(kvspace *space, struct cell_value cell, struct kvspace_value *out) {
    int rc = cell_look(space, cell, out);
    if (rc || !cell_value_is_block(cell)) return rc;
    if (out->body_bytes <= SPACE_LEND_COPY_MAX) return lend_copy(space, out);
    return space_pin(space, (uint32_t)cell.payload);
}

int cell_lend_node(kvspace *space, const struct node *node, struct kvspace_value *out, uint64_t *ver) {
    struct cell_value cell;
    for (;;) {
        uint64_t seen = node_get(node, &cell);
        if (ver) *ver = seen;
        if (cell_value_tag(cell) == NODE_TAG_NONE || cell_value_tag(cell) == NODE_TAG_HIDDEN) {
            *out = (struct kvspace_value){0};
            return KVSPACE_ENOENT;
        }
        int rc = cell_lend(space, cell, out);
        if (rc != KVSPACE_EAGAIN) return rc;
        if (!node_is_live(node)) { /* deleted meanwhile: its cell stays as it is, the block is going */
            *out = (struct kvspace_value){0};
            return KVSPACE_ENOENT;
        }
    }
}

bool cell_is_container(const kvspace *space, struct cell_value cell) {
    const struct value_block *block = cell_value_is_block(cell) ? block_of(space, cell) : NULL;
    return block && !(block->shape & 3) && (block->shape >> 2 == KVSPACE_INDEX || block->shape >> 2 == KVSPACE_EXTINDEX);
}
