/* Shortest digits and correct rounding.
 * Printing is Raffaello Giulietti's "The Schubfach way to render doubles" (2021), on a table of 128-bit powers of ten.
 * Parsing multiplies the first 19 digits by the same table and rounds the two ends of the interval in which the true
 * product lies; where the ends round apart (about once in 2^10 for hard input, never for short input), exact integers of
 * numtext_exact.c decide. Promise: both are exact for all formats of the table below, down to eight bits. */
#include "kvspace/numtext_decimal.h"

#include "kvspace/numtext_exact.h"

__extension__ typedef unsigned __int128 uint128;

const struct float_format float_formats[KIND_COUNT] = {
    [KIND_FLOAT64] = {53, -1074, UINT64_C(0x7ff0000000000000), UINT64_C(1) << 63, true},
    [KIND_FLOAT32] = {24, -149, 0x7f800000, 0x80000000, true},
    [KIND_FLOAT16] = {11, -24, 0x7c00, 0x8000, true},
    [KIND_BFLOAT16] = {8, -133, 0x7f80, 0x8000, true},
    [KIND_FLOAT8_E5M2] = {3, -16, 0x7c, 0x80, true},
    [KIND_FLOAT8_E4M3] = {4, -9, 0x7f, 0x80, false},
};

enum { POWER_LEAST = -342, POWER_MOST = 324, POWER_EXACT_MOST = 55 };

static const struct power {
    uint64_t high, low;
} powers[POWER_MOST - POWER_LEAST + 1] = {
#define POWER(high, low) {high, low},
#include "kvspace/numtext_powers.def"
#undef POWER
};

/* floor(log2(10^power)), for |power| <= 1233: 1741647 / 2^19 is log2(10) to 7 digits. */
static int log2_of_power(int power) { return (int)((int64_t)power * 1741647 >> 19); }

void float_split(const struct float_format *format, uint64_t bits, uint64_t *mantissa, int *exponent) {
    int stored = format->precision - 1;
    uint64_t hidden = UINT64_C(1) << stored;
    uint64_t biased = bits >> stored;
    *mantissa = (bits & (hidden - 1)) | (biased ? hidden : 0);
    *exponent = format->least + (biased ? (int)biased - 1 : 0);
}

/* ---- printing ---- */

/* floor(power * factor / 2^128), with the lowest bit set if the product is not that integer (to what the table knows):
 * "round to odd" keeps comparisons with even numbers exact. */
static uint64_t product_to_odd(const struct power *power, uint64_t factor) {
    uint64_t carry = (uint64_t)((uint128)power->low * factor >> 64);
    uint128 product = (uint128)power->high * factor + carry;
    return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

/* Paper, 9.3 to 9.8. The names: the float is v = c*2^q; its neighbours' midpoints are `low` and `high`; all three are
 * scaled by 4*10^-k so that the candidates are s*10^k and (s+1)*10^k, or the same with one digit less. */
struct decimal decimal_shortest(const struct float_format *format, uint64_t bits) {
    uint64_t c;
    int q;
    float_split(format, bits, &c, &q);
    if (q <= 0 && q > -format->precision && (c & ((UINT64_C(1) << -q) - 1)) == 0) return (struct decimal){c >> -q, 0};
    uint64_t hidden = UINT64_C(1) << (format->precision - 1);
    bool lower_is_closer = c == hidden && q > format->least; /* a power of two: the float below is half as far */
    int k = (q * 1262611 - (lower_is_closer ? 524031 : 0)) >> 22; /* floor(log10(2^q)), or of 3/4 of it */
    int h = q + log2_of_power(-k) + 1;
    const struct power *power = &powers[-k - POWER_LEAST];
    uint64_t low = product_to_odd(power, (4 * c - 2 + lower_is_closer) << h);
    uint64_t middle = product_to_odd(power, 4 * c << h);
    uint64_t high = product_to_odd(power, (4 * c + 2) << h);
    uint64_t odd = c & 1; /* the ends of the interval round to v only if c is even */
    low += odd;
    high -= odd;
    uint64_t s = middle / 4;
    if (s >= 10) {
        uint64_t t = s / 10;
        bool down = low <= 40 * t;
        bool up = 40 * t + 40 <= high;
        if (down != up) return (struct decimal){t + up, k + 1};
    }
    bool down = low <= 4 * s;
    bool up = 4 * s + 4 <= high;
    if (down != up) return (struct decimal){s + up, k};
    uint64_t half = 4 * s + 2;
    return (struct decimal){s + (middle > half || (middle == half && (s & 1))), k};
}

/* ---- rounding ---- */

static int leading_zeros(uint128 value) {
    uint64_t high = (uint64_t)(value >> 64);
    return high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)value);
}

/* The float nearest to value * 2^exponent, where `more` says that the true value is a little greater. value > 0. */
static uint64_t round_value(const struct float_format *format, uint128 value, int exponent, bool more) {
    int zeros = leading_zeros(value);
    value <<= zeros;
    exponent -= zeros;
    int unit = exponent + 128 - format->precision; /* exponent of the mantissa's last bit */
    if (unit < format->least) unit = format->least;
    int shift = unit - exponent;
    if (shift > 128) return 0; /* less than half of the smallest */
    uint64_t mantissa = shift == 128 ? 0 : (uint64_t)(value >> shift);
    uint128 rest = value << (128 - shift);
    uint128 half = (uint128)1 << 127;
    bool up = rest > half || (rest == half && (more || (mantissa & 1)));
    /* A mantissa that grows by one bit carries into the exponent, as it should. */
    uint64_t bits = ((uint64_t)(unit - format->least) << (format->precision - 1)) + mantissa + up;
    return bits < format->infinity ? bits : format->infinity;
}

uint64_t float_round(const struct float_format *format, uint64_t mantissa, int exponent) {
    return mantissa ? round_value(format, mantissa, exponent, false) : 0;
}

/* ---- parsing ---- */

/* The floats to which the ends of an interval round that contains digits * 10^exponent: equal if that is certain. */
static void round_ends(const struct float_format *format, uint64_t digits, int exponent, uint64_t *low, uint64_t *high) {
    const struct power *power = &powers[exponent - POWER_LEAST];
    int zeros = __builtin_clzll(digits);
    uint64_t factor = digits << zeros;
    uint128 least = (uint128)power->low * factor;
    uint128 product = (uint128)power->high * factor + (uint64_t)(least >> 64);
    int scale = log2_of_power(exponent) - 127 - zeros + 64;
    if (exponent >= 0 && exponent <= POWER_EXACT_MOST) {
        *low = *high = round_value(format, product, scale, (uint64_t)least != 0);
        return;
    }
    /* The table is rounded up by less than 1, so the 192 bits are too great by less than `factor` < 2^64. */
    *low = round_value(format, product - 1, scale, true);
    *high = round_value(format, product, scale, true);
}

uint64_t decimal_to_float(const struct float_format *format, const struct decimal_text *number) {
    if (number->digits == 0) return 0;
    /* digits < 10^19: below 10^-324 all formats round to 0; from 10^309 all are beyond. */
    if (number->exponent < POWER_LEAST) return 0;
    if (number->exponent > 308) return format->infinity;
    int exponent = (int)number->exponent;
    uint64_t low;
    uint64_t high;
    round_ends(format, number->digits, exponent, &low, &high);
    if (number->truncated) {
        uint64_t between;
        round_ends(format, number->digits + 1, exponent, &between, &high);
    }
    if (low == high) return low;
    /* The number lies between low and its successor, near the middle: (2m+1) * 2^(e-1) for low = m * 2^e. */
    uint64_t mantissa;
    int unit;
    float_split(format, low, &mantissa, &unit);
    int order = exact_compare(number, 2 * mantissa + 1, unit - 1);
    return low + (order > 0 || (order == 0 && (mantissa & 1)));
}
