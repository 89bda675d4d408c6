/* Strings: making, cutting, joining, converting, comparing and hashing them.
 * Relies on text.h, block.h, utf8.h. Promises: see text.h; units in a string are always valid, so nothing is checked again. */
#include "core/text.h"

#include "core/value.h"
#include "kvspace/utf8.h"

enum { INLINE_BYTES = 8 };

/* Units of a char kind that fit into a cell. */
static inline uint64_t inline_room(unsigned kind) { return kind == KIND_CHAR_UTF32 ? 2 : INLINE_BYTES; }

static inline size_t unit_bytes(unsigned kind) { return kind == KIND_CHAR_UTF32 ? 4 : 1; }

static inline struct cell inline_text(unsigned kind, uint64_t count) {
    return (struct cell){ (TAG_ARRAY + kind) | CELL_INLINE | count << CELL_INLINE_SHIFT, 0 };
}

int text_reserve(struct heap *heap, unsigned kind, uint64_t count, struct cell *out, void **units) {
    if (count <= inline_room(kind)) {
        *out = inline_text(kind, count);
        *units = &out->payload;
        return 0;
    }
    struct block *block;
    int rc = block_new(heap, 1, count * unit_bytes(kind), 0, &block);
    if (rc) return rc;
    block->dims[0] = count;
    *out = cell_of_block(heap, TAG_ARRAY + kind, block);
    *units = block_body(block);
    return 0;
}

int text_new(struct heap *heap, unsigned kind, const void *units, uint64_t count, struct cell *out) {
    void *body;
    struct cell made; /* units may lie in *out */
    int rc = text_reserve(heap, kind, count, &made, &body);
    if (rc) return rc;
    if (count) memcpy(body, units, count * unit_bytes(kind));
    *out = made;
    return 0;
}

int text_from_utf8(struct heap *heap, const char *bytes, size_t count, struct cell *out) {
    size_t valid = utf8_valid_prefix(bytes, count);
    if (valid != count) return fault(heap, ERROR_VALUE, "byte %zu of a text is no valid UTF-8", valid);
    size_t points = utf8_count(bytes, count), written;
    void *body;
    int rc = text_reserve(heap, KIND_CHAR_UTF32, points, out, &body);
    if (!rc) utf8_to_utf32(bytes, count, body, points, &written);
    return rc;
}

uint64_t text_length(const struct heap *heap, const struct cell *cell) {
    uint64_t count;
    const void *units = text_units(heap, cell, &count);
    return cell_kind(cell) == KIND_CHAR_UTF8 ? utf8_count(units, count) : count;
}

int text_at(struct heap *heap, const struct cell *cell, int64_t index, struct cell *out) {
    uint64_t count;
    const void *units = text_units(heap, cell, &count);
    unsigned kind = cell_kind(cell);
    if (kind == KIND_CHAR_UTF8)
        return fault(heap, ERROR_TYPE, "a []char/utf8 string has no index: convert it with char/utf32(s)");
    uint64_t at = index < 0 ? count + (uint64_t)index : (uint64_t)index;
    if (at >= count)
        return fault(heap, ERROR_INDEX, "index %lld is out of range for a string of length %llu", (long long)index,
                     (unsigned long long)count);
    struct cell made = inline_text(kind, 1);
    made.payload = kind == KIND_CHAR_UTF32 ? ((const uint32_t *)units)[at] : ((const unsigned char *)units)[at];
    *out = made;
    return 0;
}

/* A bound of a slice: from the end when negative, then clamped. */
static uint64_t slice_bound(int64_t bound, uint64_t count) {
    if (bound < 0) {
        uint64_t back = 0 - (uint64_t)bound;
        return back > count ? 0 : count - back;
    }
    return (uint64_t)bound > count ? count : (uint64_t)bound;
}

int text_slice(struct heap *heap, const struct cell *cell, int64_t from, int64_t to, struct cell *out) {
    uint64_t count;
    const char *units = text_units(heap, cell, &count);
    unsigned kind = cell_kind(cell);
    bool utf8 = kind == KIND_CHAR_UTF8;
    uint64_t points = utf8 ? utf8_count(units, count) : count;
    uint64_t first = slice_bound(from, points), end = slice_bound(to, points);
    if (end < first) end = first;
    if (first == 0 && end == points) {
        *out = cell_copy(heap, cell);
        return 0;
    }
    if (utf8) {
        first = utf8_position(units, count, first);
        end = utf8_position(units, count, end);
    }
    return text_new(heap, kind, units + first * unit_bytes(kind), end - first, out);
}

/* Puts `count` more units behind those of a block that has one holder, in place or into a larger block. */
static int text_extend(struct heap *heap, const struct cell *left, const void *units, uint64_t count, struct cell *out) {
    struct block *block = cell_block(heap, left);
    unsigned kind = cell_kind(left);
    size_t size = unit_bytes(kind);
    uint64_t need = block->body_bytes + count * size;
    if (need <= block_extra(block)->capacity) {
        memcpy((char *)block_body(block) + block->body_bytes, units, count * size);
        block_extra(block)->hash = 0;
        block->body_bytes = need;
        block->dims[0] += count;
        *out = (struct cell){ left->head & CELL_VALUE_BITS, left->payload };
        return 0;
    }
    struct block *larger;
    int rc = block_new(heap, 1, need, need + need / 2, &larger);
    if (rc) return rc;
    memcpy(block_body(larger), block_body(block), block->body_bytes);
    memcpy((char *)block_body(larger) + block->body_bytes, units, count * size);
    larger->dims[0] = block->dims[0] + count;
    *out = cell_of_block(heap, TAG_ARRAY + kind, larger);
    return 0;
}

static int concat_same(struct heap *heap, const struct cell *left, const struct cell *right, bool reuse, struct cell *out) {
    unsigned kind = cell_kind(left);
    uint64_t left_count, right_count;
    const void *left_units = text_units(heap, left, &left_count);
    const void *right_units = text_units(heap, right, &right_count);
    if (reuse && (left->head & CELL_BLOCK) && left->payload != right->payload)
        return text_extend(heap, left, right_units, right_count, out);
    size_t size = unit_bytes(kind);
    uint64_t total = left_count + right_count;
    struct cell made;
    if (total <= inline_room(kind)) {
        made = inline_text(kind, total);
        memcpy(&made.payload, left_units, left_count * size);
        memcpy((char *)&made.payload + left_count * size, right_units, right_count * size);
    } else {
        struct block *block;
        int rc = block_new(heap, 1, total * size, 0, &block);
        if (rc) return rc;
        block->dims[0] = total;
        memcpy(block_body(block), left_units, left_count * size);
        memcpy((char *)block_body(block) + left_count * size, right_units, right_count * size);
        made = cell_of_block(heap, TAG_ARRAY + kind, block);
    }
    *out = made;
    return 0;
}

int text_concat(struct heap *heap, const struct cell *left, const struct cell *right, bool reuse, struct cell *out) {
    unsigned left_kind = cell_kind(left), right_kind = cell_kind(right);
    if (left_kind == right_kind) return concat_same(heap, left, right, reuse, out);
    /* The encoding that holds both: utf32 above utf8 above ascii. */
    unsigned kind = left_kind == KIND_CHAR_UTF32 || right_kind == KIND_CHAR_UTF32 ? KIND_CHAR_UTF32 : KIND_CHAR_UTF8;
    struct cell a, b;
    int rc = text_convert(heap, left, kind, &a);
    if (rc) return rc;
    rc = text_convert(heap, right, kind, &b);
    if (!rc) {
        rc = concat_same(heap, &a, &b, false, out);
        cell_drop(heap, b);
    }
    cell_drop(heap, a);
    return rc;
}

static int does_not_fit(struct heap *heap, uint32_t point, unsigned kind) {
    char shown[UTF8_BYTES_MAX + 1] = { 0 };
    if (point >= ' ') utf8_encode(point, shown);
    return fault(heap, ERROR_VALUE, "the character %s (U+%04X) does not fit %s", shown, (unsigned)point, kind_name(kind));
}

int text_convert(struct heap *heap, const struct cell *cell, unsigned kind, struct cell *out) {
    unsigned from = cell_kind(cell);
    if (from == kind) {
        *out = cell_copy(heap, cell);
        return 0;
    }
    uint64_t count;
    size_t written;
    const void *units = text_units(heap, cell, &count);
    void *body;
    struct cell made;
    int rc;
    if (kind == KIND_CHAR_UTF32) {
        uint64_t points = from == KIND_CHAR_UTF8 ? utf8_count(units, count) : count;
        rc = text_reserve(heap, kind, points, &made, &body);
        if (rc) return rc;
        if (from == KIND_CHAR_UTF8) utf8_to_utf32(units, count, body, points, &written);
        else ascii_to_utf32(units, count, body, points, &written);
    } else if (from == KIND_CHAR_UTF32) {
        const uint32_t *points = units;
        if (kind == KIND_CHAR_ASCII)
            for (uint64_t i = 0; i < count; i++)
                if (points[i] > 127) return does_not_fit(heap, points[i], kind);
        size_t bytes = kind == KIND_CHAR_ASCII ? count : utf32_utf8_bytes(points, count);
        if (bytes == SIZE_MAX) return fault(heap, ERROR_VALUE, "a string holds a number that is no character");
        rc = text_reserve(heap, kind, bytes, &made, &body);
        if (rc) return rc;
        utf32_to_utf8(points, count, body, bytes, &written);
    } else {
        const char *bytes = units;
        uint32_t point = 0;
        for (uint64_t i = 0; kind == KIND_CHAR_ASCII && i < count; i++) {
            if (!((unsigned char)bytes[i] & 0x80)) continue;
            utf8_decode(bytes + i, count - i, &point);
            return does_not_fit(heap, point, kind);
        }
        return text_new(heap, kind, units, count, out);
    }
    *out = made;
    return 0;
}

int text_points(struct heap *heap, const struct cell *cell, struct cell *hold, const uint32_t **points, uint64_t *count) {
    const struct cell *shown = cell;
    *hold = cell_none();
    if (cell_kind(cell) != KIND_CHAR_UTF32) {
        int rc = text_convert(heap, cell, KIND_CHAR_UTF32, hold);
        if (rc) return rc;
        shown = hold;
    }
    *points = text_units(heap, shown, count);
    return 0;
}

/* Walks the points of a string in any encoding. */
struct point_walk {
    const char *units;
    uint64_t count, at; /* in units */
    unsigned kind;
};

static struct point_walk walk_points(const struct heap *heap, const struct cell *cell) {
    struct point_walk walk = { .kind = cell_kind(cell) };
    walk.units = text_units(heap, cell, &walk.count);
    return walk;
}

static bool walk_next(struct point_walk *walk, uint32_t *point) {
    if (walk->at >= walk->count) return false;
    if (walk->kind == KIND_CHAR_UTF32) {
        memcpy(point, walk->units + 4 * walk->at++, 4);
        return true;
    }
    size_t bytes = utf8_decode(walk->units + walk->at, walk->count - walk->at, point);
    walk->at += bytes ? bytes : 1;
    return true;
}

bool text_equal(struct heap *heap, const struct cell *left, const struct cell *right) {
    if (cell_kind(left) == cell_kind(right)) {
        uint64_t left_count, right_count;
        const void *left_units = text_units(heap, left, &left_count);
        const void *right_units = text_units(heap, right, &right_count);
        return left_count == right_count && memcmp(left_units, right_units, left_count * unit_bytes(cell_kind(left))) == 0;
    }
    return text_order(heap, left, right) == 0;
}

int text_order(struct heap *heap, const struct cell *left, const struct cell *right) {
    struct point_walk a = walk_points(heap, left), b = walk_points(heap, right);
    for (;;) {
        uint32_t left_point = 0, right_point = 0;
        bool left_more = walk_next(&a, &left_point), right_more = walk_next(&b, &right_point);
        if (!left_more || !right_more) return (int)left_more - (int)right_more;
        if (left_point != right_point) return left_point < right_point ? -1 : 1;
    }
}

/* Two points a round. The same for every encoding, because the others are hashed as points too. */
static inline uint64_t hash_round(uint64_t hash, uint64_t pair) {
    hash = (hash ^ pair) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static inline uint32_t hash_finish(uint64_t hash, uint64_t count) {
    hash = (hash ^ count) * UINT64_C(0xbf58476d1ce4e5b9);
    uint32_t out = (uint32_t)(hash >> 32);
    return out ? out : 1;
}

uint32_t text_hash_points(const uint32_t *points, uint64_t count) {
    uint64_t hash = UINT64_C(0x243f6a8885a308d3), at = 0;
    for (; at + 2 <= count; at += 2) hash = hash_round(hash, points[at] | (uint64_t)points[at + 1] << 32);
    if (at < count) hash = hash_round(hash, points[at]);
    return hash_finish(hash, count);
}

static uint32_t hash_walk(struct point_walk walk) {
    uint64_t hash = UINT64_C(0x243f6a8885a308d3), count = 0;
    uint32_t first, second;
    while (walk_next(&walk, &first)) {
        count++;
        if (!walk_next(&walk, &second)) {
            hash = hash_round(hash, first);
            break;
        }
        count++;
        hash = hash_round(hash, first | (uint64_t)second << 32);
    }
    return hash_finish(hash, count);
}

uint32_t text_hash(struct heap *heap, const struct cell *cell) {
    if (cell->head & CELL_BLOCK) {
        struct block_extra *extra = block_extra(cell_block(heap, cell));
        if (!extra->hash) {
            uint64_t count;
            const void *units = text_units(heap, cell, &count);
            extra->hash = cell_kind(cell) == KIND_CHAR_UTF32 ? text_hash_points(units, count) : hash_walk(walk_points(heap, cell));
        }
        return extra->hash;
    }
    uint64_t count;
    const void *units = text_units(heap, cell, &count);
    return cell_kind(cell) == KIND_CHAR_UTF32 ? text_hash_points(units, count) : hash_walk(walk_points(heap, cell));
}

void text_write(struct heap *heap, const struct cell *cell, struct text_out *out) {
    uint64_t count;
    const void *units = text_units(heap, cell, &count);
    if (cell_kind(cell) != KIND_CHAR_UTF32) {
        text_put(out, units, count);
        return;
    }
    const uint32_t *points = units;
    while (count) {
        char buffer[256];
        size_t written, used = utf32_to_utf8(points, count, buffer, sizeof buffer, &written);
        text_put(out, buffer, written);
        if (!used) {
            text_puts(out, "\xef\xbf\xbd");
            used = 1;
        }
        points += used;
        count -= used;
    }
}

bool text_to_utf8(struct heap *heap, const struct cell *cell, char *out, size_t capacity, size_t *bytes) {
    uint64_t count;
    const void *units = text_units(heap, cell, &count);
    size_t used, written;
    if (cell_kind(cell) == KIND_CHAR_UTF32) {
        used = utf32_to_utf8(units, count, out, capacity - 1, &written);
    } else {
        written = used = count < capacity ? count : capacity - 1;
        memcpy(out, units, used);
    }
    out[written] = 0;
    if (bytes) *bytes = written;
    return used == count;
}
