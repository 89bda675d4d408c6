/* Values: equality, order, hashes, conversion and printing, for every kind and mix of kinds as language.md §3 says.
 * Relies on block.h, types.h, text.h and the printer of kvspace. Promises: nothing here changes a value; depth is bounded
 * (containers deeper than VALUE_DEPTH_MAX are an error, not a crash). Results are cells with references of their own. */
#ifndef CORE_VALUE_H
#define CORE_VALUE_H

#include "core/block.h"
#include "kvspace/textout.h"

enum { VALUE_DEPTH_MAX = 64 };

/* `==`: by mathematical value for numbers, by text for strings, by content for containers of one category.
 * Different categories are ERROR_TYPE, except with None. */
int value_equal(struct heap *heap, const struct cell *left, const struct cell *right, bool *equal);

/* `<`: *order is negative, 0 or positive; 2 when a NaN makes them unordered. ERROR_TYPE for None, containers, bools
 * and different categories. `sign` is the operator for the message: "<". */
int value_order(struct heap *heap, const struct cell *left, const struct cell *right, const char *sign, int *order);

/* Numbers by mathematical value, exact over all kinds; the same result as value_order. */
int number_order(const struct cell *left, const struct cell *right);

/* The kind's conversion: int8(x). `kind` is bool, an integer, a float of any size, or a char kind (for strings). */
int value_convert(struct heap *heap, unsigned kind, const struct cell *cell, struct cell *out);

/* A numeric literal as `kind` if it fits: false when it does not, or when either is no number. */
bool literal_fits(const struct cell *cell, unsigned kind, struct cell *out);

/* A scalar float of any kind, also the storage-only ones, as a double; an integer rounded to the nearest. */
double number_as_float64(const struct cell *cell);

/* Prints as println does (quoted: as inside a container). Gives 0, an error_kind, or ERROR_OUT_OF_MEMORY of the sink. */
int value_print(struct heap *heap, const struct cell *cell, bool quoted, struct text_out *out);
/* A short picture for messages: `"text"`, `3`, `[1, 2, …]`; cut with `…` at capacity. */
void value_picture(struct heap *heap, const struct cell *cell, char *out, size_t capacity);

#endif
