/* Cells: the 16 bytes that hold one value in a frame, a map or a native's argument.
 * Relies on kvspace/kinds.h. Promises: a scalar stands in the cell itself; everything else is a reference to a block of
 * heap.h, counted. Copying a cell's 16 bytes moves the value; cell_copy (value.h) also adds the reference.
 *
 *   head     bits 0-7: the form: 0 None, 1..KIND_COUNT-1 a scalar of that kind (kinds.def), 32… a CELL_ form below;
 *            bits 8-15: CELL_FLAG_ bits; bits 16-63: version, bumped when the form changes under the eyes of other processes
 *   payload  scalar: int8…int64 sign-extended to 64 bits, uint8…uint64 zero-extended, bool 0 or 1, float64 its bits, float32 its
 *            bits in the low half, time and duration int64 nanoseconds; other forms: the ref_t of a block (pointer: see below) */
#ifndef CORE_CELL_H
#define CORE_CELL_H

#include <string.h>

#include "kvspace/kinds.h"

enum cell_form {
    CELL_NONE = 0,
    /* 1 … KIND_COUNT-1: scalars */
    CELL_TEXT = 32, /* a string in any encoding: block of form BLOCK_TEXT */
    CELL_ARRAY,     /* compact array: BLOCK_ARRAY */
    CELL_MAP,       /* BLOCK_MAP */
    CELL_STRUCT,    /* BLOCK_MAP with the struct's path in `type` */
    CELL_POINTER,   /* &x: BLOCK_POINTER, its body is the UTF-8 text of the key pointed to (frame cells too) */
    CELL_RANGE,     /* range(a, b, step) as for sees it: BLOCK_RANGE */
    CELL_FORMS
};

enum cell_flag {
    CELL_FLAG_LITERAL = 1 /* a numeric literal of the source, or an array literal made of such: converts to a declared kind */
};

struct core_cell {
    uint64_t head;
    uint64_t payload;
};

static inline unsigned cell_form(const struct core_cell *cell) { return (uint8_t)cell->head; }
static inline bool cell_is_none(const struct core_cell *cell) { return (uint8_t)cell->head == CELL_NONE; }
static inline bool cell_is_block(const struct core_cell *cell) { return (uint8_t)cell->head >= CELL_TEXT; }
static inline bool cell_is_literal(const struct core_cell *cell) { return cell->head >> 8 & CELL_FLAG_LITERAL; }
static inline uint32_t cell_ref(const struct core_cell *cell) { return (uint32_t)cell->payload; }

static inline struct core_cell cell_none(void) { return (struct core_cell){0, 0}; }
static inline struct core_cell cell_bool(bool value) { return (struct core_cell){KIND_BOOL, value}; }
static inline struct core_cell cell_int64(int64_t value) { return (struct core_cell){KIND_INT64, (uint64_t)value}; }
/* Any integer kind; `bits` must already be extended as the head of this file says. */
static inline struct core_cell cell_scalar(unsigned kind, uint64_t bits) { return (struct core_cell){kind, bits}; }
static inline struct core_cell cell_block(unsigned form, uint32_t ref) { return (struct core_cell){form, ref}; }
static inline struct core_cell cell_float64(double value) {
    struct core_cell cell = {KIND_FLOAT64, 0};
    memcpy(&cell.payload, &value, 8);
    return cell;
}
static inline struct core_cell cell_float32(float value) {
    struct core_cell cell = {KIND_FLOAT32, 0};
    uint32_t bits;
    memcpy(&bits, &value, 4);
    cell.payload = bits;
    return cell;
}
static inline double cell_as_float64(const struct core_cell *cell) {
    double value;
    memcpy(&value, &cell->payload, 8);
    return value;
}
static inline float cell_as_float32(const struct core_cell *cell) {
    uint32_t bits = (uint32_t)cell->payload;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

#endif
