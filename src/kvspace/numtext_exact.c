/* Long integers, as little of them as printing and parsing need: multiply and divide by one word, shift, compare.
 * Relies on numtext_decimal.h. Words are little-endian: word[0] is the least. All sizes are bounded: the midpoint between two
 * doubles has at most 767 significant digits, so 800 digits and a mark for "more" decide every comparison.
 * Promise: no number grows past LONG_WORDS; asserts say so. */
#include "kvspace/numtext_exact.h"

#include <assert.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

/* The greatest number made: 801 digits or 5^1200 (2790 bits), times 2^1200, and a word to spare. */
enum { LONG_WORDS = 96, DIGITS_KEPT = 800 };

struct longint {
    size_t count; /* words in use, none for 0 */
    uint64_t word[LONG_WORDS];
};

static void long_set(struct longint *number, uint64_t value) {
    number->count = value != 0;
    number->word[0] = value;
}

static void long_multiply_add(struct longint *number, uint64_t factor, uint64_t addend) {
    uint64_t carry = addend;
    for (size_t i = 0; i < number->count; i++) {
        uint128 product = (uint128)number->word[i] * factor + carry;
        number->word[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry) {
        assert(number->count < LONG_WORDS);
        number->word[number->count++] = carry;
    }
}

/* Gives the remainder. */
static uint64_t long_divide(struct longint *number, uint64_t divisor) {
    uint128 rest = 0;
    for (size_t i = number->count; i > 0; i--) {
        rest = rest << 64 | number->word[i - 1];
        number->word[i - 1] = (uint64_t)(rest / divisor);
        rest %= divisor;
    }
    while (number->count && number->word[number->count - 1] == 0) number->count--;
    return (uint64_t)rest;
}

static void long_shift_left(struct longint *number, unsigned bits) {
    size_t words = bits / 64;
    unsigned rest = bits % 64;
    if (number->count == 0) return;
    if (rest) long_multiply_add(number, UINT64_C(1) << rest, 0);
    assert(number->count + words <= LONG_WORDS);
    memmove(number->word + words, number->word, number->count * sizeof number->word[0]);
    memset(number->word, 0, words * sizeof number->word[0]);
    number->count += words;
}

/* Gives whether a bit that was not 0 fell off. */
static bool long_shift_right(struct longint *number, unsigned bits) {
    size_t words = bits / 64;
    unsigned rest = bits % 64;
    bool lost = false;
    if (words >= number->count) {
        lost = number->count > 0;
        number->count = 0;
        return lost;
    }
    for (size_t i = 0; i < words; i++) lost |= number->word[i] != 0;
    memmove(number->word, number->word + words, (number->count - words) * sizeof number->word[0]);
    number->count -= words;
    return (rest ? long_divide(number, UINT64_C(1) << rest) != 0 : false) || lost;
}

static int long_compare(const struct longint *left, const struct longint *right) {
    if (left->count != right->count) return left->count < right->count ? -1 : 1;
    for (size_t i = left->count; i > 0; i--)
        if (left->word[i - 1] != right->word[i - 1]) return left->word[i - 1] < right->word[i - 1] ? -1 : 1;
    return 0;
}

static const uint64_t FIVE_27 = UINT64_C(7450580596923828125); /* 5^27, the greatest that fits a word */

static void long_multiply_five(struct longint *number, unsigned power) {
    for (; power >= 27; power -= 27) long_multiply_add(number, FIVE_27, 0);
    uint64_t rest = 1;
    for (; power > 0; power--) rest *= 5;
    long_multiply_add(number, rest, 0);
}

/* Gives whether the number was not a multiple. Dividing step by step gives the same quotient as dividing once. */
static bool long_divide_five(struct longint *number, unsigned power) {
    bool lost = false;
    for (; power >= 27; power -= 27) lost |= long_divide(number, FIVE_27) != 0;
    uint64_t rest = 1;
    for (; power > 0; power--) rest *= 5;
    return (long_divide(number, rest) != 0) || lost;
}

/* Reads the significant digits; gives the exponent of the last one that counts. */
static int64_t long_read(struct longint *number, const struct decimal_text *text) {
    long_set(number, 0);
    size_t kept = 0;
    size_t left_out = 0;
    bool more = false;
    for (size_t i = 0; i < text->length; i++) {
        unsigned digit = (unsigned)(unsigned char)text->text[i] - '0';
        if (digit > 9) continue; /* the point, an underscore */
        if (kept < DIGITS_KEPT) {
            long_multiply_add(number, 10, digit);
            kept++;
        } else {
            left_out++;
            more |= digit != 0;
        }
    }
    int64_t exponent = text->last_exponent + (int64_t)left_out;
    if (more) { /* any digit greater than 0 stands for the rest */
        long_multiply_add(number, 10, 1);
        exponent--;
    }
    return exponent;
}

int exact_compare(const struct decimal_text *text, uint64_t mantissa, int exponent) {
    struct longint number;
    struct longint other;
    int64_t power = long_read(&number, text);
    long_set(&other, mantissa);
    /* number * 5^power * 2^power against other * 2^exponent: move negative powers to the other side. */
    if (power >= 0) long_multiply_five(&number, (unsigned)power);
    else long_multiply_five(&other, (unsigned)-power);
    int64_t shift = power - exponent;
    if (shift >= 0) long_shift_left(&number, (unsigned)shift);
    else long_shift_left(&other, (unsigned)-shift);
    return long_compare(&number, &other);
}

/* Writes the number in decimal, without leading zeros; nothing for 0. */
static size_t long_print(struct longint *number, char *out) {
    char digits[DECIMAL_EXACT_MAX];
    size_t at = sizeof digits;
    while (number->count) {
        uint64_t part = long_divide(number, UINT64_C(10000000000000000000)); /* 10^19 */
        for (int i = 0; i < 19 && (part || number->count); i++) {
            assert(at > 0);
            digits[--at] = (char)('0' + part % 10);
            part /= 10;
        }
    }
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

size_t decimal_exact(uint64_t mantissa, int exponent, int scale, char *out) {
    struct longint number;
    long_set(&number, mantissa);
    bool more = false;
    /* Twice the number, so that the last bit is the half that decides the rounding. */
    int shift = exponent + scale + 1;
    if (scale >= 0) long_multiply_five(&number, (unsigned)scale);
    if (shift >= 0) long_shift_left(&number, (unsigned)shift);
    if (scale < 0) more |= long_divide_five(&number, (unsigned)-scale);
    if (shift < 0) more |= long_shift_right(&number, (unsigned)-shift);
    bool half = number.count && (number.word[0] & 1);
    (void)long_shift_right(&number, 1);
    bool odd = number.count && (number.word[0] & 1);
    if (half && (more || odd)) {
        if (number.count) long_multiply_add(&number, 1, 1);
        else long_set(&number, 1);
    }
    return long_print(&number, out);
}
