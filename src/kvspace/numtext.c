/* The texts around the arithmetic: integer digits, where the point and the exponent go, and what counts as a number.
 * Relies on numtext_decimal.c for shortest digits and correct rounding. Promise: never reads a byte outside the given
 * text, never writes more than numtext.h says, and uses neither printf nor strtod, whose results follow the locale. */
#include "kvspace/numtext.h"

#include "kvspace/numtext_decimal.h"

#include <math.h>
#include <string.h>

/* ---- integers ---- */

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657"
    "5859606162636465666768697071727374757677787980818283848586878889909192939495969798" "99";

/* Writes the digits so that they end at `end`; gives where they begin. */
static char *digits_before(char *end, uint64_t value) {
    while (value >= 100) {
        end -= 2;
        memcpy(end, digit_pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, digit_pairs + value * 2, 2);
    } else {
        *--end = (char)('0' + value);
    }
    return end;
}

size_t numtext_print_uint64(uint64_t value, char *out) {
    char digits[20];
    char *start = digits_before(digits + sizeof digits, value);
    size_t length = (size_t)(digits + sizeof digits - start);
    memcpy(out, start, length);
    out[length] = 0;
    return length;
}

size_t numtext_print_int64(int64_t value, char *out) {
    if (value >= 0) return numtext_print_uint64((uint64_t)value, out);
    out[0] = '-';
    return 1 + numtext_print_uint64(0 - (uint64_t)value, out + 1);
}

/* The value of a digit in base 36, 255 for other characters. */
static unsigned digit_value(char character) {
    unsigned char byte = (unsigned char)character;
    if (byte >= '0' && byte <= '9') return byte - '0';
    unsigned letter = (byte | 0x20U) - 'a';
    return letter < 26 ? letter + 10 : 255;
}

int numtext_parse_digits(const char *text, size_t length, unsigned base, uint64_t *out) {
    if (base < 2 || base > 36 || length == 0) return NUMTEXT_ESYNTAX;
    uint64_t value = 0;
    bool too_great = false;
    bool after_digit = false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '_' && after_digit && i + 1 < length) {
            after_digit = false;
            continue;
        }
        unsigned digit = digit_value(text[i]);
        if (digit >= base) return NUMTEXT_ESYNTAX;
        too_great |= value > (UINT64_MAX - digit) / base;
        value = value * base + digit;
        after_digit = true;
    }
    *out = too_great ? UINT64_MAX : value;
    return too_great ? NUMTEXT_ERANGE : NUMTEXT_OK;
}

/* Reads [0x|0b] digits after a sign. */
static int parse_magnitude(const char *text, size_t length, uint64_t *out) {
    if (length > 2 && text[0] == '0') {
        char letter = (char)(text[1] | 0x20);
        if (letter == 'x') return numtext_parse_digits(text + 2, length - 2, 16, out);
        if (letter == 'b') return numtext_parse_digits(text + 2, length - 2, 2, out);
    }
    return numtext_parse_digits(text, length, 10, out);
}

static size_t sign_bytes(const char *text, size_t length, bool *negative) {
    bool sign = length > 0 && (text[0] == '-' || text[0] == '+');
    *negative = sign && text[0] == '-';
    return sign;
}

int numtext_parse_int64(const char *text, size_t length, int64_t *out) {
    bool negative;
    size_t sign = sign_bytes(text, length, &negative);
    uint64_t magnitude = 0;
    int rc = parse_magnitude(text + sign, length - sign, &magnitude);
    if (rc == NUMTEXT_ESYNTAX) return rc;
    uint64_t limit = (uint64_t)INT64_MAX + negative;
    if (magnitude > limit) {
        *out = negative ? INT64_MIN : INT64_MAX;
        return NUMTEXT_ERANGE;
    }
    *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return NUMTEXT_OK;
}

int numtext_parse_uint64(const char *text, size_t length, uint64_t *out) {
    bool negative;
    size_t sign = sign_bytes(text, length, &negative);
    uint64_t magnitude = 0;
    int rc = parse_magnitude(text + sign, length - sign, &magnitude);
    if (rc == NUMTEXT_ESYNTAX) return rc;
    if (negative && magnitude > 0) {
        *out = 0;
        return NUMTEXT_ERANGE;
    }
    *out = magnitude;
    return rc;
}

/* ---- floats to text ---- */

static size_t put_exponent(int exponent, char *out) {
    unsigned value = (unsigned)(exponent < 0 ? -exponent : exponent);
    size_t length = 0;
    out[length++] = 'e';
    out[length++] = exponent < 0 ? '-' : '+';
    if (value >= 100) out[length++] = (char)('0' + value / 100);
    memcpy(out + length, digit_pairs + value % 100 * 2, 2);
    return length + 2;
}

/* Where the point goes: digits d1 d2 … dn stand for d1.d2…dn * 10^exponent. */
static size_t put_digits(const char *digits, size_t count, int exponent, char *out) {
    size_t length = 0;
    if (exponent >= 16 || exponent < -4) {
        out[length++] = digits[0];
        if (count > 1) {
            out[length++] = '.';
            memcpy(out + length, digits + 1, count - 1);
            length += count - 1;
        }
        return length + put_exponent(exponent, out + length);
    }
    if (exponent < 0) {
        memcpy(out, "0.000", 5);
        length = (size_t)(1 - exponent);
        memcpy(out + length, digits, count);
        return length + count;
    }
    size_t whole = (size_t)exponent + 1; /* digits before the point */
    if (count <= whole) {
        memcpy(out, digits, count);
        memset(out + count, '0', whole - count);
        memcpy(out + whole, ".0", 2);
        return whole + 2;
    }
    memcpy(out, digits, whole);
    out[whole] = '.';
    memcpy(out + whole + 1, digits + whole, count - whole);
    return count + 1;
}

static size_t print_float_bits(const struct float_format *format, uint64_t bits, char *out) {
    size_t length = 0;
    bool negative = (bits & format->sign) != 0;
    bits &= format->sign - 1;
    bool is_nan = bits > format->infinity || (bits == format->infinity && !format->has_infinity);
    if (negative && !is_nan) out[length++] = '-';
    if (bits >= format->infinity) {
        memcpy(out + length, is_nan ? "nan" : "inf", 3);
        length += 3;
    } else if (bits == 0) {
        memcpy(out + length, "0.0", 3);
        length += 3;
    } else {
        struct decimal decimal = decimal_shortest(format, bits);
        while (decimal.digits % 10 == 0) {
            decimal.digits /= 10;
            decimal.exponent++;
        }
        char digits[20];
        char *start = digits_before(digits + sizeof digits, decimal.digits);
        size_t count = (size_t)(digits + sizeof digits - start);
        length += put_digits(start, count, decimal.exponent + (int)count - 1, out + length);
    }
    out[length] = 0;
    return length;
}

size_t numtext_print_float64(double value, char *out) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return print_float_bits(&float_formats[KIND_FLOAT64], bits, out);
}

size_t numtext_print_float32(float value, char *out) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return print_float_bits(&float_formats[KIND_FLOAT32], bits, out);
}

/* An element of 1, 2, 4 or 8 bytes as a number, whatever the byte order. */
static uint64_t load_bits(const void *element, size_t bytes) {
    uint8_t bits8 = 0;
    uint16_t bits16 = 0;
    uint32_t bits32 = 0;
    uint64_t bits64 = 0;
    switch (bytes) {
    case 1: memcpy(&bits8, element, bytes); return bits8;
    case 2: memcpy(&bits16, element, bytes); return bits16;
    case 4: memcpy(&bits32, element, bytes); return bits32;
    default: memcpy(&bits64, element, bytes); return bits64;
    }
}

static void store_bits(uint64_t bits, void *element, size_t bytes) {
    uint8_t bits8 = (uint8_t)bits;
    uint16_t bits16 = (uint16_t)bits;
    uint32_t bits32 = (uint32_t)bits;
    switch (bytes) {
    case 1: memcpy(element, &bits8, bytes); break;
    case 2: memcpy(element, &bits16, bytes); break;
    case 4: memcpy(element, &bits32, bytes); break;
    default: memcpy(element, &bits, bytes); break;
    }
}

size_t numtext_print_float(enum kv_kind kind, const void *element, char *out) {
    if (!kind_is_float(kind)) {
        out[0] = 0;
        return 0;
    }
    return print_float_bits(&float_formats[kind], load_bits(element, kind_size(kind)), out);
}

/* ---- fixed numbers of digits ---- */

struct cut_text {
    char *out;
    size_t capacity, length;
};

static void cut_put(struct cut_text *text, const char *bytes, size_t count) {
    if (text->length < text->capacity) {
        size_t room = text->capacity - text->length;
        memcpy(text->out + text->length, bytes, count < room ? count : room);
    }
    text->length += count;
}

static size_t cut_end(struct cut_text *text) {
    if (text->capacity) text->out[text->length < text->capacity ? text->length : text->capacity - 1] = 0;
    return text->length;
}

/* Sign, inf and nan; false when that was all. Splits the rest into mantissa * 2^exponent. */
static bool put_special(struct cut_text *text, double value, uint64_t *mantissa, int *exponent) {
    const struct float_format *format = &float_formats[KIND_FLOAT64];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bool negative = (bits & format->sign) != 0;
    bits &= format->sign - 1;
    if (bits > format->infinity) {
        cut_put(text, "nan", 3);
        return false;
    }
    if (negative) cut_put(text, "-", 1);
    if (bits == format->infinity) {
        cut_put(text, "inf", 3);
        return false;
    }
    float_split(format, bits, mantissa, exponent);
    return true;
}

size_t numtext_print_fixed(double value, unsigned digits, char *out, size_t capacity) {
    struct cut_text text = {.out = out, .capacity = capacity};
    uint64_t mantissa;
    int exponent;
    if (!put_special(&text, value, &mantissa, &exponent)) return cut_end(&text);
    if (digits > NUMTEXT_DIGITS_MAX) digits = NUMTEXT_DIGITS_MAX;
    /* Leading zeros, so that at least one digit stands before the point. */
    char all[NUMTEXT_DIGITS_MAX + 1 + DECIMAL_EXACT_MAX];
    char *start = all + digits + 1;
    size_t count = decimal_exact(mantissa, exponent, (int)digits, start);
    for (; count <= digits; count++) *--start = '0';
    cut_put(&text, start, count - digits);
    if (digits) {
        cut_put(&text, ".", 1);
        cut_put(&text, start + count - digits, digits);
    }
    return cut_end(&text);
}

size_t numtext_print_scientific(double value, unsigned digits, char *out, size_t capacity) {
    struct cut_text text = {.out = out, .capacity = capacity};
    uint64_t mantissa;
    int exponent;
    if (!put_special(&text, value, &mantissa, &exponent)) return cut_end(&text);
    if (digits > NUMTEXT_DIGITS_MAX) digits = NUMTEXT_DIGITS_MAX;
    char all[DECIMAL_EXACT_MAX];
    int power = 0;
    if (mantissa == 0) {
        memset(all, '0', digits + 1);
    } else {
        /* The decimal exponent from the bits, at most one too small; rounding may also give one digit more. */
        int top = 63 - __builtin_clzll(mantissa) + exponent;
        power = (top * 1262611) >> 22; /* floor(top * log10(2)), as in numtext_decimal.c */
        while (decimal_exact(mantissa, exponent, (int)digits - power, all) > digits + 1) power++;
    }
    cut_put(&text, all, 1);
    if (digits) {
        cut_put(&text, ".", 1);
        cut_put(&text, all + 1, digits);
    }
    char tail[8];
    cut_put(&text, tail, put_exponent(power, tail));
    return cut_end(&text);
}

/* ---- text to floats ---- */

/* A quiet NaN has the highest bit of its mantissa set; float8/e4m3 has but one NaN. */
static uint64_t quiet_nan(const struct float_format *format) {
    return format->infinity | (format->has_infinity ? UINT64_C(1) << (format->precision - 2) : 0);
}

static bool same_word(const char *text, size_t length, const char *word) {
    if (strlen(word) != length) return false;
    for (size_t i = 0; i < length; i++)
        if ((text[i] | 0x20) != word[i]) return false;
    return true;
}

struct digit_scan {
    const char *text;
    size_t length, at;
    struct decimal_text number;
    bool any; /* a digit was seen */
};

/* Digits with single underscores between them, from scan->at; `scale` is added to the exponent for each. */
static bool scan_digits(struct digit_scan *scan, int scale) {
    struct decimal_text *number = &scan->number;
    size_t start = scan->at;
    bool after_digit = false;
    for (; scan->at < scan->length; scan->at++) {
        char character = scan->text[scan->at];
        if (character == '_') {
            if (!after_digit) return false;
            after_digit = false;
            continue;
        }
        unsigned digit = (unsigned)(unsigned char)character - '0';
        if (digit > 9) break;
        after_digit = true;
        number->last_exponent += scale;
        if (number->digits == 0 && digit == 0) continue;
        if (number->digits == 0) number->text = scan->text + scan->at;
        number->length = (size_t)(scan->text + scan->at + 1 - number->text);
        if (number->digits < UINT64_C(1000000000000000000)) {
            number->digits = number->digits * 10 + digit;
            number->exponent = number->last_exponent;
        } else {
            number->truncated |= digit != 0;
            if (scale == 0) number->exponent++;
        }
    }
    scan->any |= scan->at > start;
    return scan->at == start || after_digit;
}

/* A number in the millions is as good as any: it is 0 or beyond the largest, unless the digits are as many. */
static bool scan_exponent(struct digit_scan *scan, int64_t *exponent) {
    bool negative;
    scan->at += sign_bytes(scan->text + scan->at, scan->length - scan->at, &negative);
    int64_t value = 0;
    bool after_digit = false;
    for (; scan->at < scan->length; scan->at++) {
        char character = scan->text[scan->at];
        if (character == '_' && after_digit) {
            after_digit = false;
            continue;
        }
        unsigned digit = (unsigned)(unsigned char)character - '0';
        if (digit > 9) return false;
        if (value < INT64_C(1000000000000000)) value = value * 10 + digit;
        after_digit = true;
    }
    *exponent = negative ? -value : value;
    return after_digit;
}

/* The digits before the point count from the point to the left, so their exponents are known only at its place: until
 * then the exponent counts digits that did not fit, and last_exponent is 0. */
static bool scan_number(const char *text, size_t length, struct decimal_text *number) {
    struct digit_scan scan = {.text = text, .length = length};
    if (!scan_digits(&scan, 0)) return false;
    if (scan.at < length && text[scan.at] == '.') {
        scan.at++;
        if (!scan_digits(&scan, -1)) return false;
    }
    if (!scan.any) return false;
    int64_t exponent = 0;
    if (scan.at < length && (text[scan.at] | 0x20) == 'e') {
        scan.at++;
        if (!scan_exponent(&scan, &exponent)) return false;
    }
    if (scan.at != length) return false;
    *number = scan.number;
    /* Trailing zeros of the whole part are part of the text, so both exponents agree with what was read. */
    number->exponent += exponent;
    number->last_exponent += exponent;
    return true;
}

static int parse_float_bits(const struct float_format *format, const char *text, size_t length, uint64_t *bits) {
    bool negative;
    size_t sign = sign_bytes(text, length, &negative);
    text += sign;
    length -= sign;
    *bits = negative ? format->sign : 0;
    if (same_word(text, length, "inf") || same_word(text, length, "infinity")) {
        *bits |= format->infinity;
        return NUMTEXT_OK;
    }
    if (same_word(text, length, "nan")) {
        *bits |= quiet_nan(format);
        return NUMTEXT_OK;
    }
    struct decimal_text number;
    if (!scan_number(text, length, &number)) return NUMTEXT_ESYNTAX;
    uint64_t magnitude = decimal_to_float(format, &number);
    *bits |= magnitude;
    return magnitude >= format->infinity ? NUMTEXT_ERANGE : NUMTEXT_OK;
}

int numtext_parse_float64(const char *text, size_t length, double *out) {
    uint64_t bits;
    int rc = parse_float_bits(&float_formats[KIND_FLOAT64], text, length, &bits);
    if (rc != NUMTEXT_ESYNTAX) memcpy(out, &bits, sizeof bits);
    return rc;
}

int numtext_parse_float32(const char *text, size_t length, float *out) {
    return numtext_parse_float(KIND_FLOAT32, text, length, out);
}

int numtext_parse_float(enum kv_kind kind, const char *text, size_t length, void *element) {
    if (!kind_is_float(kind)) return NUMTEXT_ESYNTAX;
    uint64_t bits;
    int rc = parse_float_bits(&float_formats[kind], text, length, &bits);
    if (rc != NUMTEXT_ESYNTAX) store_bits(bits, element, kind_size(kind));
    return rc;
}

/* ---- the small floats ---- */

uint16_t numtext_small_from_float64(enum kv_kind kind, double value) {
    if (!kind_is_float(kind) || kind_size(kind) > 2) return 0;
    const struct float_format *source = &float_formats[KIND_FLOAT64];
    const struct float_format *format = &float_formats[kind];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t sign = bits & source->sign ? format->sign : 0;
    bits &= source->sign - 1;
    uint64_t small = bits > source->infinity ? quiet_nan(format) : format->infinity;
    if (bits < source->infinity) {
        uint64_t mantissa;
        int exponent;
        float_split(source, bits, &mantissa, &exponent);
        small = float_round(format, mantissa, exponent);
    }
    return (uint16_t)(small | sign);
}

float numtext_small_to_float32(enum kv_kind kind, uint16_t bits) {
    if (!kind_is_float(kind) || kind_size(kind) > 2) return NAN;
    const struct float_format *format = &float_formats[kind];
    const struct float_format *target = &float_formats[KIND_FLOAT32];
    uint64_t small = bits & (format->sign - 1);
    uint32_t wide = (uint32_t)target->infinity;
    if (small < format->infinity) {
        uint64_t mantissa;
        int exponent;
        float_split(format, small, &mantissa, &exponent);
        wide = (uint32_t)float_round(target, mantissa, exponent);
    } else if (small > format->infinity || !format->has_infinity) {
        wide = (uint32_t)quiet_nan(target);
    }
    if (bits & format->sign) wide |= (uint32_t)target->sign;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}
