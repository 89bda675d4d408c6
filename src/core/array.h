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
/* a[i,j] = v in the block itself: the caller has made it the only holder (array_own). `literal`: v converts if it fits. */
int array_set(struct heap *heap, struct cell *array, const struct cell *const *indices, unsigned count,
              const struct cell *value, bool literal);
/* Makes *cell the only holder of its block, by copying it if somebody else holds it too. For maps as well. */
int value_own(struct heap *heap, struct cell *cell);

/* Appends a scalar to a 1-D array. `reuse` as in text_concat. On an array without elements or capacity it grows by
 * doubling. To undo or repeat it: set dims[0] and body_bytes back (array_truncate). */
int array_append(struct heap *heap, const struct cell *array, const struct cell *value, bool literal, bool reuse,
                 struct cell *out);
int array_concat(struct heap *heap, const struct cell *left, const struct cell *right, bool reuse, struct cell *out);
/* Sets the length of a 1-D array or string that the caller alone holds back to `count`: the undo of an append. */
void array_truncate(const struct heap *heap, struct cell *array, uint64_t count);

/* A literal [v0, v1, …]: scalars of a common kind, or arrays of equal shape and kind that stack. ERROR_TYPE if none. */
int array_list(struct heap *heap, const struct cell *const *values, unsigned count, unsigned literals_all, struct cell *out);
/* With a declared type: `[2,3]int64` and no value zero-fills, values convert when they are literals; `[]T` takes the
 * values' number. `fill`: the one value fills the whole shape. */
int array_typed(struct heap *heap, const char *type, size_t type_bytes, const struct cell *const *values, unsigned count,
                bool literals, bool fill, struct cell *out);

#endif
