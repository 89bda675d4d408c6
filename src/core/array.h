/* Compact arrays: elements of one fixed-width kind, row-major, up to 8 axes, in one block.
 * Relies on block.h. Promises: an element is read and written in O(1); appending to an array that nobody else holds is
 * amortised O(1); everything else gives a new array and leaves its argument alone. Strings are not handled here. */
#ifndef CORE_ARRAY_H
#define CORE_ARRAY_H

#include "core/block.h"

/* A new array, body zeroed. ERROR_VALUE when the shape is too large. */
int array_new(struct heap *heap, unsigned kind, unsigned ndim, const uint64_t *dims, struct cell *out);
/* The same from bytes. */
int array_from(struct heap *heap, unsigned kind, unsigned ndim, const uint64_t *dims, const void *body, struct cell *out);
uint64_t array_count(const struct block *block); /* elements */

/* a[i], a[i,j]: a scalar, or a sub-array when there are fewer indices than axes. ERROR_INDEX, ERROR_TYPE. */
int array_get(struct heap *heap, const struct cell *array, const struct cell *const *indices, unsigned count,
              struct cell *out);
/* a[i,j] = v. A change in place if the cell is the block's only holder, else in a copy. `literal`: v converts if it fits.
 * For this and every function with `reuse` or a changed container: *out either is the same block (compare the payloads; the
 * caller's reference has moved to it) or a new one; the old one is then untouched, and the caller, who still holds it, drops it
 * once the step is committed. So a step that was cut off may be repeated. */
int array_set(struct heap *heap, const struct cell *array, const struct cell *const *indices, unsigned count,
              const struct cell *value, bool literal, struct cell *out);
/* A copy that shares no block with the original, as deep as it goes (bounded: containers deeper than VALUE_DEPTH_MAX are an error). */
int value_duplicate_deep(struct heap *heap, const struct cell *cell, struct cell *out);
/* A copy of the block (array, string, map or struct) with one holder. */
int value_duplicate(struct heap *heap, const struct cell *cell, struct cell *out);

/* A write through several steps, a·b[i,j]·c = v: the containers on the way are changed in place or copied, by the rule above. */
struct value_step {
    const struct cell *const *operands; /* `·` and `*`: the key; `[`: the indices */
    uint32_t count;
    char mark; /* '·' given as '.', '*', '[' */
    uint64_t literals;
};
/* None on the way becomes a map (not for an index). `literal`: the value stands as a literal. */
int value_put(struct heap *heap, const struct cell *base, const struct value_step *steps, unsigned count,
              const struct cell *value, bool literal, struct cell *out);
/* base·name, base·*k, base[i…]: a string's character, an array's element, a map's or struct's member. KeyError, IndexError. */
int value_step_get(struct heap *heap, const struct cell *base, const struct value_step *step, struct cell *out);

/* Appends a scalar to a 1-D array. `reuse` as in text_concat. On an array without elements or capacity it grows by
 * doubling. To undo or repeat it: set dims[0] and body_bytes back (array_truncate). */
int array_append(struct heap *heap, const struct cell *array, const struct cell *value, bool literal, bool reuse,
                 struct cell *out);
int array_concat(struct heap *heap, const struct cell *left, const struct cell *right, bool reuse, struct cell *out);
/* range(): `count` numbers from `first` in steps. Everybody but `next` works on the array that range_expand makes of it. */
struct range_body {
    int64_t first, step;
};
int range_new(struct heap *heap, int64_t first, int64_t step, uint64_t count, struct cell *out);
int range_expand(struct heap *heap, const struct cell *range, struct cell *out);
static inline uint64_t range_count(const struct heap *heap, const struct cell *range) { return cell_block(heap, range)->dims[0]; }
static inline int64_t range_at(const struct heap *heap, const struct cell *range, uint64_t i) {
    const struct range_body *body = (const struct range_body *)block_body(cell_block(heap, range));
    return (int64_t)((uint64_t)body->first + i * (uint64_t)body->step);
}

/* Sets the length of a 1-D array or string that the caller alone holds back to `count`: the undo of an append. */
void array_truncate(const struct heap *heap, struct cell *array, uint64_t count);

/* A literal [v0, v1, …]: scalars of a common kind, or arrays of equal shape and kind that stack. ERROR_TYPE if none. */
int array_list(struct heap *heap, const struct cell *const *values, unsigned count, struct cell *out);
/* With a declared type: `[2,3]int64` and no value zero-fills, values convert when they are literals; `[]T` takes the
 * values' number. `fill`: the one value fills the whole shape. literals: bit i (63 for all beyond) tells that value i is one. */
int array_typed(struct heap *heap, const char *type, size_t type_bytes, const struct cell *const *values, unsigned count,
                uint64_t literals, bool fill, struct cell *out);

#endif
