/* Operators on every mix of kinds (language.md §3 "Numbers"): the complete, slow path behind the executor's fast ones.
 * Relies on value.h and text.h. Promises: no undefined behaviour at any edge (INT64_MIN ÷ -1, shifts, NaN), messages that
 * name the kinds and values. The operands may be any cells; the result has a reference of its own. */
#ifndef CORE_ARITH_H
#define CORE_ARITH_H

#include "core/block.h"

enum arith_op {
    ARITH_ADD, ARITH_SUB, ARITH_MUL, ARITH_DIV, ARITH_MOD,
    ARITH_BITAND, ARITH_BITOR, ARITH_BITXOR, ARITH_SHL, ARITH_SHR,
    ARITH_EQ, ARITH_NEQ, ARITH_LT, ARITH_GT, ARITH_LE, ARITH_GE,
    ARITH_AND, ARITH_OR,
    ARITH_COUNT
};

/* Which operands stand as literals in the source: beside an unsigned kind a non-negative one counts as uint64. */
enum { ARITH_LEFT_LITERAL = 1, ARITH_RIGHT_LITERAL = 2 };

int arith_binary(struct heap *heap, enum arith_op op, const struct cell *left, const struct cell *right,
                 unsigned literals, struct cell *out);
int arith_neg(struct heap *heap, const struct cell *value, struct cell *out);
int arith_plus(struct heap *heap, const struct cell *value, struct cell *out); /* prefix +: a number as it is */
int arith_not(struct heap *heap, const struct cell *value, struct cell *out);

/* Kind of the result of two arithmetic numbers (integers or float32/float64). */
unsigned arith_result_kind(unsigned left, unsigned right);

/* Cuts a 64-bit two's complement result to the width of an integer kind. */
uint64_t arith_wrap(unsigned kind, uint64_t bits);

#endif
