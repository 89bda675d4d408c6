/* Exact integers of a few thousand bits, for the decisions that 128 bits cannot make. Used by numtext_decimal.c only.
 * Promises: no allocation (numbers live on the stack), exact results within the stated ranges. */
#ifndef KVSPACE_NUMTEXT_EXACT_H
#define KVSPACE_NUMTEXT_EXACT_H

#include "kvspace/numtext_decimal.h"

/* Compares the decimal number with mantissa * 2^exponent: less than, equal to or greater than 0 as it is smaller, equal or
 * greater. For -1100 <= exponent <= 1100 and a number between 10^-400 and 10^400. */
int exact_compare(const struct decimal_text *number, uint64_t mantissa, int exponent);

#endif
