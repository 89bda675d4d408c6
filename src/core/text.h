/* Strings: sequences of code points in one of three encodings, in a cell (up to 8 bytes) or in a block.
 * Relies on block.h and utf8.h. Promises: utf32 and ascii are indexed in O(1); appending to a string that nobody else
 * holds is amortised O(1); hashes and equality do not depend on the encoding. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include "core/block.h"
#include "kvspace/textout.h"

/* The units of a string (points, or bytes) and their number. The pointer is good while the cell stays where it is and
 * holds its block. */
static inline const void *text_units(const struct heap *heap, const struct cell *cell, uint64_t *count) {
    if (cell->head & CELL_INLINE) {
        *count = cell->head >> CELL_INLINE_SHIFT & 15;
        return &cell->payload;
    }
    const struct block *block = cell_block(heap, cell);
    *count = block->dims[0];
    return block_body(block);
}

/* New strings. `kind` is a char kind, `count` is in its units; the units must be valid. */
int text_new(struct heap *heap, unsigned kind, const void *units, uint64_t count, struct cell *out);
int text_from_utf8(struct heap *heap, const char *bytes, size_t count, struct cell *out); /* to utf32; ERROR_VALUE if invalid */
static inline struct cell text_of_point(uint32_t point) {
    return (struct cell){ TAG_TEXT | CELL_INLINE | UINT64_C(1) << CELL_INLINE_SHIFT, point };
}
/* An unset string of `count` units, *units to be filled before anybody sees it. For inline sizes too: *units then
 * points into *out. */
int text_reserve(struct heap *heap, unsigned kind, uint64_t count, struct cell *out, void **units);

/* Code points, in any encoding. */
uint64_t text_length(const struct heap *heap, const struct cell *cell);
/* The point at `index` (negative from the end) as a string of one character: ERROR_INDEX, ERROR_TYPE for utf8. */
int text_at(struct heap *heap, const struct cell *cell, int64_t index, struct cell *out);
/* Half open, negative bounds from the end, clamped. */
int text_slice(struct heap *heap, const struct cell *cell, int64_t from, int64_t to, struct cell *out);
/* left + right. `reuse`: the caller will overwrite left's cell with the result and holds its only reference, so the
 * block may be extended in place; *out then holds the same block, and the reference has moved (see array_set). */
int text_concat(struct heap *heap, const struct cell *left, const struct cell *right, bool reuse, struct cell *out);
/* Into another encoding; ERROR_VALUE names the character that does not fit. */
int text_convert(struct heap *heap, const struct cell *cell, unsigned kind, struct cell *out);
/* As utf32 units: borrowed when the cell is utf32 already, else converted into *hold, which the caller drops. */
int text_points(struct heap *heap, const struct cell *cell, struct cell *hold, const uint32_t **points, uint64_t *count);

bool text_equal(struct heap *heap, const struct cell *left, const struct cell *right);
int text_order(struct heap *heap, const struct cell *left, const struct cell *right);
uint32_t text_hash(struct heap *heap, const struct cell *cell); /* never 0 */
uint32_t text_hash_points(const uint32_t *points, uint64_t count);

/* The text as UTF-8 bytes to a sink. */
void text_write(struct heap *heap, const struct cell *cell, struct text_out *out);
/* Into a buffer of the caller, ended by a zero byte; false when it does not fit (the buffer then holds the beginning). */
bool text_to_utf8(struct heap *heap, const struct cell *cell, char *out, size_t capacity, size_t *bytes);

#endif
