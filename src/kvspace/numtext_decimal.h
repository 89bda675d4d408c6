/* Between binary floats and decimal digits: the arithmetic under numtext.c. Relies on kinds.h; used by numtext.c only.
 * Promises: exact rounding for every input, no allocation. A "float" here is bits of one of the formats in
 * numtext_decimal.c, without sign. */
#ifndef KVSPACE_NUMTEXT_DECIMAL_H
#define KVSPACE_NUMTEXT_DECIMAL_H

#include "kvspace/kinds.h"

/* One binary format: value = mantissa * 2^exponent. */
struct float_format {
    int precision;     /* bits of a mantissa, the hidden one included; 0: not a float kind */
    int least;         /* exponent of the smallest subnormal */
    uint64_t infinity; /* the bits of infinity (float8/e4m3: of NaN): all from here up are not finite */
    uint64_t sign;     /* the bit of the sign */
    bool has_infinity; /* false: `infinity` is a NaN */
};

extern const struct float_format float_formats[KIND_COUNT];

/* digits * 10^exponent */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* The decimal with the fewest digits that reads back as `bits` (finite, not zero, no sign), nearest to it among those. */
struct decimal decimal_shortest(const struct float_format *format, uint64_t bits);

/* Digits of a number as text: significant digits with underscores and at most one point among them. */
struct decimal_text {
    const char *text;   /* from the first significant digit */
    size_t length;      /* up to the last digit */
    uint64_t digits;    /* the first 19 significant digits */
    bool truncated;     /* there are more, and one of them is not 0 */
    int64_t exponent;   /* value = digits * 10^exponent, or a little more if truncated */
    int64_t last_exponent; /* of the last digit of the text */
};

/* The float nearest to the number, ties to even; format->infinity or more when it is beyond the largest. */
uint64_t decimal_to_float(const struct float_format *format, const struct decimal_text *number);

/* The float of another format that is nearest to mantissa * 2^exponent. */
uint64_t float_round(const struct float_format *format, uint64_t mantissa, int exponent);

/* bits = mantissa * 2^exponent, for finite bits. */
void float_split(const struct float_format *format, uint64_t bits, uint64_t *mantissa, int *exponent);

/* The decimal digits of mantissa * 2^exponent * 10^scale, rounded to an integer (ties to even), most significant first
 * and without leading zeros. For doubles and |scale| <= 1100 + 324. Gives how many digits; `out` has DECIMAL_EXACT_MAX bytes. */
enum { DECIMAL_EXACT_MAX = 1500 };
size_t decimal_exact(uint64_t mantissa, int exponent, int scale, char *out);

#endif
