/* Numbers to text and back, by the rules of language.md ("Printing"), and the formats of the small floats.
 * Relies on kinds.h. Promises: independent of the locale and of the rounding mode, no allocation, no state; what is
 * printed reads back to the very same bits (a NaN to a NaN); parsing is correctly rounded (nearest, ties to even) for any
 * number of digits. Texts are bytes and a length; printed texts are ended by a zero byte that the length does not count. */
#ifndef KVSPACE_NUMTEXT_H
#define KVSPACE_NUMTEXT_H

#include "kvspace/kinds.h"

enum {
    NUMTEXT_INTEGER_MAX = 21, /* bytes for any 64-bit integer in decimal, sign and zero byte included */
    NUMTEXT_FLOAT_MAX = 32,   /* bytes for any float in shortest form, zero byte included */
    NUMTEXT_DIGITS_MAX = 1100 /* digits that numtext_print_fixed and numtext_print_scientific give at most */
};

enum numtext_status {
    NUMTEXT_OK = 0,
    NUMTEXT_ESYNTAX, /* not a number, or bytes are left over */
    NUMTEXT_ERANGE   /* a number, but outside the kind; *out is set as each function says */
};

/* ---- integers ---- */

/* Decimal text into `out` (NUMTEXT_INTEGER_MAX bytes); gives its length. */
size_t numtext_print_int64(int64_t value, char *out);
size_t numtext_print_uint64(uint64_t value, char *out);

/* [+|-] digits, or 0x and hexadecimal, or 0b and binary digits; single underscores may stand between digits. All of
 * the text must be used. NUMTEXT_ERANGE leaves the nearest limit of the kind in *out. */
int numtext_parse_int64(const char *text, size_t length, int64_t *out);
int numtext_parse_uint64(const char *text, size_t length, uint64_t *out);

/* Digits of a base from 2 to 36 without sign or prefix, underscores as above. NUMTEXT_ERANGE leaves UINT64_MAX. */
int numtext_parse_digits(const char *text, size_t length, unsigned base, uint64_t *out);

/* ---- floats ---- */

/* The shortest text that reads back to the same value of that kind, the nearest to it among the shortest; always with
 * `.0` or an exponent; the exponent has at least two digits and is used from 1e16 up and below 1e-4; inf, -inf, nan.
 * `out` has NUMTEXT_FLOAT_MAX bytes. Gives the length. */
size_t numtext_print_float64(double value, char *out);
size_t numtext_print_float32(float value, char *out);

/* The same for one element of any float kind, float16 and float8 included; `element` has kind_size(kind) bytes. */
size_t numtext_print_float(enum kv_kind kind, const void *element, char *out);

/* [+|-] (digits [. digits] | . digits) [(e|E) [+|-] digits], or inf, infinity, nan in any case; single underscores may
 * stand between digits. The nearest value of the kind, for a text of any length. NUMTEXT_ERANGE: the number is finite
 * but beyond the largest value of the kind; *out is then infinity with its sign (float8/e4m3: NaN). */
int numtext_parse_float64(const char *text, size_t length, double *out);
int numtext_parse_float32(const char *text, size_t length, float *out);
int numtext_parse_float(enum kv_kind kind, const char *text, size_t length, void *element);

/* As printf's %.*f and %.*e do in the C locale, exact for every value: `digits` after the point (at most
 * NUMTEXT_DIGITS_MAX). Text is cut at `capacity` and ended by a zero byte if capacity > 0; gives the uncut length.
 * 400 + digits bytes are always enough. */
size_t numtext_print_fixed(double value, unsigned digits, char *out, size_t capacity);
size_t numtext_print_scientific(double value, unsigned digits, char *out, size_t capacity);

/* ---- the small floats ----
 * float16 and float8/e5m2 have infinities and NaNs like float32; bfloat16 is the upper half of a float32; float8/e4m3
 * has no infinity: 0x7f and 0xff are its NaN, 448 its largest value (OCP 8-bit floating point specification). */

/* The nearest value (ties to even) of a float kind of 1 or 2 bytes; beyond the largest: infinity (float8/e4m3: NaN). From
 * a float32 the conversion to double is exact, so that there is one rounding only. 0 for other kinds. */
uint16_t numtext_small_from_float64(enum kv_kind kind, double value);

/* The value of those bits, exactly. NaN for other kinds. */
float numtext_small_to_float32(enum kv_kind kind, uint16_t bits);

#endif
