/* Numbers to text and back. Hard cases by name, then random bit patterns against the C library (which is slow but, in
 * the C locale, right), then every value of the formats of 8 and 16 bits.
 * `numtext --random N` sets how many patterns are tried (2 million without), `--seed S` repeats a run. */
#include "kvspace/numtext.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static uint64_t random_state = 20261201;
static uint64_t random_rounds = 2000000;

/* splitmix64 */
static uint64_t random_next(void) {
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- printing ---- */

static const struct {
    double value;
    const char *text;
} doubles[] = {
    {0.0, "0.0"}, {-0.0, "-0.0"}, {1.0, "1.0"}, {-1.0, "-1.0"}, {0.1, "0.1"}, {0.5, "0.5"}, {1.5, "1.5"}, {100.0, "100.0"},
    {3.14159, "3.14159"}, {1e15, "1000000000000000.0"}, {1e16, "1e+16"}, {9999999999999998.0, "9999999999999998.0"},
    {9007199254740993.0, "9007199254740992.0"}, {123456789012345680.0, "1.2345678901234568e+17"}, {1e21, "1e+21"},
    {1e22, "1e+22"}, {1e23, "1e+23"}, {1.0000000000000001e23, "1.0000000000000001e+23"}, {0.0001, "0.0001"},
    {0.00012, "0.00012"}, {0.00001, "1e-05"}, {0.000099999, "9.9999e-05"}, {1.5e-7, "1.5e-07"}, {1e100, "1e+100"},
    {1e-100, "1e-100"}, {5e-324, "5e-324"}, {1e-323, "1e-323"}, {2.2250738585072014e-308, "2.2250738585072014e-308"},
    {2.225073858507201e-308, "2.225073858507201e-308"}, {1.7976931348623157e308, "1.7976931348623157e+308"},
    {4.35, "4.35"}, {0.3, "0.3"}, {2.0 / 3.0, "0.6666666666666666"}, {5e-320, "5e-320"},
    {0x1p-1021, "4.450147717014403e-308"}, {9.5e-4, "0.00095"}, {299792458.0, "299792458.0"},
    {9007199254740991.0, "9007199254740991.0"}, {2e-44, "2e-44"}, {1.0 / 0.0, "inf"}, {-1.0 / 0.0, "-inf"},
    {5.684341886080802e-14, "5.684341886080802e-14"}, /* 2^-44: the neighbours are not equally far */
    {9.109383701528e-31, "9.109383701528e-31"}, {6.02214076e23, "6.02214076e+23"}, {1234.5678, "1234.5678"},
};

static void doubles_print_as_the_language_says(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        char out[NUMTEXT_FLOAT_MAX];
        size_t length = numtext_print_float64(doubles[i].value, out);
        assert_string_equal(out, doubles[i].text);
        assert_int_equal(length, strlen(out));
        double back = 7;
        assert_int_equal(numtext_parse_float64(out, length, &back), NUMTEXT_OK);
        assert_int_equal(bits_of(back), bits_of(doubles[i].value));
    }
    char out[NUMTEXT_FLOAT_MAX];
    (void)numtext_print_float64((double)NAN, out);
    assert_string_equal(out, "nan");
    (void)numtext_print_float64(-(double)NAN, out);
    assert_string_equal(out, "nan");
}

static const struct {
    uint32_t bits;
    const char *text;
} floats[] = {
    {0x00000000, "0.0"}, {0x80000000, "-0.0"}, {0x3f800000, "1.0"}, {0x3dcccccd, "0.1"}, {0x40490fdb, "3.1415927"},
    {0x00000001, "1e-45"}, {0x00800000, "1.1754944e-38"}, {0x007fffff, "1.1754942e-38"}, {0x7f7fffff, "3.4028235e+38"},
    {0x7f800000, "inf"}, {0xff800000, "-inf"}, {0x7fc00000, "nan"}, {0x4b800000, "16777216.0"}, {0x4b7fffff, "16777215.0"},
    {0x501502f9, "10000000000.0"}, {0x5a0e1bca, "1e+16"}, {0x38d1b717, "0.0001"}, {0x3727c5ac, "1e-05"},
    {0x0da24260, "1e-30"}, {0x5d5e0b6b, "1e+18"}, {0x4cb3b4ce, "94217840.0"}, {0x3eaaaaab, "0.33333334"},
};

static void floats_print_as_the_language_says(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        char out[NUMTEXT_FLOAT_MAX];
        size_t length = numtext_print_float32(float_of(floats[i].bits), out);
        assert_string_equal(out, floats[i].text);
        float back;
        assert_int_equal(numtext_parse_float32(out, length, &back), NUMTEXT_OK);
        if (strcmp(out, "nan")) assert_int_equal(float_bits(back), floats[i].bits);
        else assert_true(isnan(back));
    }
}

/* The fewest digits with which the C library's own text reads back. */
static int fewest_digits64(double value) {
    char text[64];
    for (int digits = 1; digits < 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (bits_of(strtod(text, NULL)) == bits_of(value)) return digits;
    }
    return 17;
}

static int fewest_digits32(float value) {
    char text[64];
    for (int digits = 1; digits < 9; digits++) {
        (void)snprintf(text, sizeof text, "%.*e", digits - 1, (double)value);
        if (float_bits(strtof(text, NULL)) == float_bits(value)) return digits;
    }
    return 9;
}

/* Significant digits in a printed text, trailing zeros of the whole part not counted. */
static int digits_shown(const char *text) {
    int digits = 0;
    int zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text == '0') {
            zeros++;
        } else if (*text >= '1' && *text <= '9') {
            digits += (digits ? zeros : 0) + 1;
            zeros = 0;
        }
    }
    return digits;
}

static void random_doubles_read_back_and_are_shortest(void **state) {
    (void)state;
    print_message("seed %" PRIu64 ", %" PRIu64 " patterns\n", random_state, random_rounds);
    for (uint64_t round = 0; round < random_rounds; round++) {
        uint64_t bits = random_next();
        if (round % 4 == 1) bits &= ~(UINT64_MAX >> (random_next() % 52 + 12) >> 1); /* few bits set at the top */
        if (round % 4 == 2) bits = bits_of((double)(int64_t)bits / (double)(random_next() % 1000000 + 1));
        if (round % 64 == 3) bits &= UINT64_C(0x800fffffffffffff) >> (random_next() % 40); /* subnormals */
        double value = double_of(bits);
        if (isnan(value) || isinf(value)) continue;
        char out[NUMTEXT_FLOAT_MAX];
        size_t length = numtext_print_float64(value, out);
        double back = 0;
        int rc = numtext_parse_float64(out, length, &back);
        if (rc || bits_of(back) != bits) fail_msg("%016" PRIx64 " prints as %s", bits, out);
        if (round % 32 == 0) {
            if (bits_of(strtod(out, NULL)) != bits) fail_msg("%016" PRIx64 " prints as %s", bits, out);
            if (value != 0 && digits_shown(out) != fewest_digits64(value)) fail_msg("%s is not the shortest", out);
        }
    }
}

static void random_floats_read_back_and_are_shortest(void **state) {
    (void)state;
    for (uint64_t round = 0; round < random_rounds / 4; round++) {
        uint32_t bits = (uint32_t)random_next();
        float value = float_of(bits);
        if (isnan(value) || isinf(value)) continue;
        char out[NUMTEXT_FLOAT_MAX];
        size_t length = numtext_print_float32(value, out);
        float back = 0;
        int rc = numtext_parse_float32(out, length, &back);
        if (rc || float_bits(back) != bits) fail_msg("%08" PRIx32 " prints as %s", bits, out);
        if (round % 32 == 0) {
            if (float_bits(strtof(out, NULL)) != bits) fail_msg("%08" PRIx32 " prints as %s", bits, out);
            if (value != 0 && digits_shown(out) != fewest_digits32(value)) fail_msg("%s is not the shortest", out);
        }
    }
}

/* ---- parsing ---- */

static void parsed_as(const char *text, int wanted_rc, double wanted) {
    double value = 12345;
    int rc = numtext_parse_float64(text, strlen(text), &value);
    if (rc != wanted_rc || (rc != NUMTEXT_ESYNTAX && bits_of(value) != bits_of(wanted)))
        fail_msg("%s parses to %a with %d", text, value, rc);
}

/* The compiler reads the same digits. */
#define AS_COMPILED(number) parsed_as(#number, 0, (double)number)

static void hard_decimals_are_rounded_right(void **state) {
    (void)state;
    parsed_as("9007199254740993", 0, 9007199254740992.0); /* a tie goes to the even one */
    parsed_as("9007199254740993.00000000000000000000000000000000000000000000000000000000000000000001", 0, 9007199254740994.0);
    parsed_as("9007199254740995", 0, 9007199254740996.0);
    parsed_as("2.2250738585072012e-308", 0, 2.2250738585072014e-308); /* once hung PHP and Java */
    parsed_as("2.2250738585072011e-308", 0, 2.225073858507201e-308);
    parsed_as("1.7976931348623157e308", 0, 1.7976931348623157e308);
    parsed_as("1.7976931348623158e308", 0, 1.7976931348623157e308);
    parsed_as("1.7976931348623159e308", NUMTEXT_ERANGE, HUGE_VAL);
    parsed_as("179769313486231580793728971405301e276", 0, 1.7976931348623157e308);
    parsed_as("-1e309", NUMTEXT_ERANGE, -HUGE_VAL);
    parsed_as("1e999999999999999999999", NUMTEXT_ERANGE, HUGE_VAL);
    parsed_as("0e999999999999999999999", 0, 0.0);
    parsed_as("1e-999999999999999999999", 0, 0.0);
    parsed_as("-1e-400", 0, -0.0);
    parsed_as("4.9406564584124654e-324", 0, 5e-324);
    parsed_as("2.4703282292062328e-324", 0, 5e-324); /* just above half of the smallest */
    parsed_as("2.4703282292062327e-324", 0, 0.0);
    parsed_as("2.47032822920623272088284396434110686182e-324", 0, 0.0);
    parsed_as("2.47032822920623272088284396434110686183e-324", 0, 5e-324);
    AS_COMPILED(6.631236871469758276785396630275967e-4);
    AS_COMPILED(8.988465674311579538646525953945123668089884894711532863671504057886633790275e307);
    AS_COMPILED(3.518437208883201171875e13);
    AS_COMPILED(62.5364939768271845828);
    AS_COMPILED(2.16656806400000042503e-12);
    AS_COMPILED(1.8254370818746402660437411213933955878019332885742187);
    AS_COMPILED(7.8459735791271921e65);
    AS_COMPILED(100000000000000016777215.0);
    AS_COMPILED(100000000000000016777216.0);
    AS_COMPILED(1.00000000000000011102230246251565404236316680908203124); /* below, at and above a midpoint */
    AS_COMPILED(1.00000000000000011102230246251565404236316680908203125);
    AS_COMPILED(1.00000000000000011102230246251565404236316680908203126);
    AS_COMPILED(2.22507385850720113605740979670913197593481954635164565e-308);
    parsed_as("1_000.5", 0, 1000.5);
    parsed_as("0.1", 0, 0.1);
    parsed_as(".5", 0, 0.5);
    parsed_as("5.", 0, 5.0);
    parsed_as("+1e2", 0, 100.0);
    parsed_as("1E+02", 0, 100.0);
    parsed_as("inf", 0, HUGE_VAL);
    parsed_as("-Infinity", 0, -HUGE_VAL);
    static const char *const wrong[] = {"",     "+",   ".",    "e5",    "1e",   "1e+", "1.2.3", "1__0", "_1",      "1_",
                                        "1_.5", "1._5", "1e5_", "1e_5", "0x10", "1 ",  " 1",    "1f",   "infinit", "nan1",
                                        "--1",  "1-",  "١"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) parsed_as(wrong[i], NUMTEXT_ESYNTAX, 0);
}

/* Decimals at and next to the exact middle between two neighbours, which the C library computes with exact integers too. */
static void midpoints_are_rounded_right(void **state) {
    (void)state;
    static char text[1400];
    for (uint64_t round = 0; round < random_rounds / 100; round++) {
        uint64_t bits = random_next() >> 1;
        if (round % 3 == 0) bits >>= 11; /* small exponents, subnormals */
        if (bits >= UINT64_C(0x7fe0000000000000)) continue;
        /* long double has room for the midpoint where exponents allow; %.800Le prints it exactly on x86, and on other
         * machines gives a text that both parsers must still agree on. */
        long double middle = ((long double)double_of(bits) + (long double)double_of(bits + 1)) / 2;
        int length = snprintf(text, sizeof text, "%.*Le", round % 2 ? 800 : 18, middle);
        if (round % 5 == 0 && length > 805) text[500] = (char)('0' + random_next() % 10);
        double value = 0;
        assert_int_not_equal(numtext_parse_float64(text, (size_t)length, &value), NUMTEXT_ESYNTAX);
        if (bits_of(value) != bits_of(strtod(text, NULL))) fail_msg("%s", text);
    }
}

static void random_decimals_agree_with_the_c_library(void **state) {
    (void)state;
    for (uint64_t round = 0; round < random_rounds / 16; round++) {
        char text[80];
        int length = snprintf(text, sizeof text, "%" PRIu64, random_next() >> (random_next() % 64));
        if (round % 2) length += snprintf(text + length, sizeof text - (size_t)length, ".%" PRIu64, random_next() >> (random_next() % 64));
        if (round % 8 == 5) length += snprintf(text + length, sizeof text - (size_t)length, "%" PRIu64, random_next());
        int exponent = (int)(random_next() % (round % 16 ? 60 : 700)) - (round % 16 ? 30 : 360);
        length += snprintf(text + length, sizeof text - (size_t)length, "e%d", exponent);
        double value = 0;
        assert_int_not_equal(numtext_parse_float64(text, (size_t)length, &value), NUMTEXT_ESYNTAX);
        if (bits_of(value) != bits_of(strtod(text, NULL))) fail_msg("%s", text);
        float single = 0;
        (void)numtext_parse_float32(text, (size_t)length, &single);
        if (float_bits(single) != float_bits(strtof(text, NULL))) fail_msg("%s as float32", text);
    }
}

/* ---- fixed digits ---- */

static void fixed_digits_agree_with_the_c_library(void **state) {
    (void)state;
    static char ours[2000];
    static char theirs[2000];
    static const double chosen[] = {0.0, -0.0, 0.5, 1.5, 2.5, 0.125, 0.375, 9.5, 9.995, 99999.5, 1e22, 1e23, 1e308, 5e-324,
                                    1.7976931348623157e308, 1e-5, 0.05, 0.25, 1.0, 10.0, -2.5, HUGE_VAL, -HUGE_VAL};
    size_t count = sizeof chosen / sizeof chosen[0];
    for (uint64_t round = 0; round < random_rounds / 80 + count * 24; round++) {
        double value = round < count * 24 ? chosen[round / 24] : double_of(random_next());
        if (isnan(value)) continue;
        unsigned digits = round < count * 24 ? (unsigned)(round % 24) : (unsigned)(random_next() % (round % 100 ? 20 : 1100));
        if (round % 3 == 0 && round >= count * 24) value = (double)(int64_t)random_next() / 1024.0; /* ties */
        size_t length = numtext_print_fixed(value, digits, ours, sizeof ours);
        (void)snprintf(theirs, sizeof theirs, "%.*f", (int)digits, value);
        assert_string_equal(ours, theirs);
        assert_int_equal(length, strlen(theirs));
        (void)numtext_print_scientific(value, digits, ours, sizeof ours);
        (void)snprintf(theirs, sizeof theirs, "%.*e", (int)digits, value);
        assert_string_equal(ours, theirs);
    }
    assert_int_equal(numtext_print_fixed(1234.5, 2, ours, 4), 7);
    assert_string_equal(ours, "123");
    assert_int_equal(numtext_print_fixed((double)NAN, 2, ours, sizeof ours), 3);
    assert_int_equal(numtext_print_fixed(1, 2, NULL, 0), 4);
}

/* ---- integers ---- */

static void integers_print_and_read_back(void **state) {
    (void)state;
    static const int64_t edges[] = {0, 1, -1, 9, 10, 99, 100, -100, 12345, INT64_MAX, INT64_MIN, INT64_MIN + 1, 1000000000000};
    char out[NUMTEXT_INTEGER_MAX];
    char theirs[32];
    for (uint64_t round = 0; round < 100000; round++) {
        size_t count = sizeof edges / sizeof edges[0];
        int64_t value = round < count ? edges[round] : (int64_t)random_next() >> (random_next() % 64);
        size_t length = numtext_print_int64(value, out);
        (void)snprintf(theirs, sizeof theirs, "%" PRId64, value);
        assert_string_equal(out, theirs);
        int64_t back = 0;
        assert_int_equal(numtext_parse_int64(out, length, &back), NUMTEXT_OK);
        assert_true(back == value);
        uint64_t whole = (uint64_t)value;
        length = numtext_print_uint64(whole, out);
        uint64_t whole_back = 0;
        assert_int_equal(numtext_parse_uint64(out, length, &whole_back), NUMTEXT_OK);
        assert_true(whole_back == whole);
    }
}

static void integer_limits_are_kept(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int rc;
        int64_t value;
    } rows[] = {
        {"9223372036854775807", 0, INT64_MAX}, {"9223372036854775808", NUMTEXT_ERANGE, INT64_MAX},
        {"-9223372036854775808", 0, INT64_MIN}, {"-9223372036854775809", NUMTEXT_ERANGE, INT64_MIN},
        {"99999999999999999999999", NUMTEXT_ERANGE, INT64_MAX}, {"0x7fff_ffff_ffff_ffff", 0, INT64_MAX},
        {"-0x8000000000000000", 0, INT64_MIN}, {"0b101", 0, 5}, {"0XfF", 0, 255}, {"1_000", 0, 1000}, {"+5", 0, 5},
        {"007", 0, 7}, {"", NUMTEXT_ESYNTAX, 0}, {"-", NUMTEXT_ESYNTAX, 0}, {"0x", NUMTEXT_ESYNTAX, 0},
        {"0b2", NUMTEXT_ESYNTAX, 0}, {"1__0", NUMTEXT_ESYNTAX, 0}, {"_1", NUMTEXT_ESYNTAX, 0}, {"1_", NUMTEXT_ESYNTAX, 0},
        {"0x_1", NUMTEXT_ESYNTAX, 0}, {"1.0", NUMTEXT_ESYNTAX, 0}, {"1 ", NUMTEXT_ESYNTAX, 0}, {"--1", NUMTEXT_ESYNTAX, 0},
        {"-0", 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t value = 0;
        int rc = numtext_parse_int64(rows[i].text, strlen(rows[i].text), &value);
        if (rc != rows[i].rc || value != rows[i].value) fail_msg("%s: %d", rows[i].text, rc);
    }
    uint64_t whole = 0;
    assert_int_equal(numtext_parse_uint64("18446744073709551615", 20, &whole), 0);
    assert_true(whole == UINT64_MAX);
    assert_int_equal(numtext_parse_uint64("18446744073709551616", 20, &whole), NUMTEXT_ERANGE);
    assert_int_equal(numtext_parse_uint64("-1", 2, &whole), NUMTEXT_ERANGE);
    assert_int_equal(whole, 0);
    assert_int_equal(numtext_parse_uint64("-0", 2, &whole), 0);
    assert_int_equal(numtext_parse_digits("zz", 2, 36, &whole), 0);
    assert_int_equal(whole, 35 * 36 + 35);
    assert_int_equal(numtext_parse_digits("zz", 2, 35, &whole), NUMTEXT_ESYNTAX);
    assert_int_equal(numtext_parse_digits("1", 1, 37, &whole), NUMTEXT_ESYNTAX);
}

/* ---- small floats ---- */

static const enum kv_kind small_kinds[] = {KIND_FLOAT16, KIND_BFLOAT16, KIND_FLOAT8_E4M3, KIND_FLOAT8_E5M2};

static void every_small_float_converts_and_prints_and_reads_back(void **state) {
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        enum kv_kind kind = small_kinds[i];
        uint32_t patterns = UINT32_C(1) << (8 * kind_size(kind));
        for (uint32_t bits = 0; bits < patterns; bits++) {
            float wide = numtext_small_to_float32(kind, (uint16_t)bits);
            uint16_t back = numtext_small_from_float64(kind, (double)wide);
            uint8_t byte = (uint8_t)bits;
            uint16_t half = (uint16_t)bits;
            const void *element = kind_size(kind) == 1 ? (const void *)&byte : (const void *)&half;
            char out[NUMTEXT_FLOAT_MAX];
            size_t length = numtext_print_float(kind, element, out);
            uint16_t parsed = 0;
            assert_int_equal(numtext_parse_float(kind, out, length, &parsed), NUMTEXT_OK);
            if (isnan(wide)) {
                assert_string_equal(out, "nan");
                assert_true(isnan(numtext_small_to_float32(kind, back)));
                assert_true(isnan(numtext_small_to_float32(kind, parsed)));
            } else {
                assert_int_equal(back, bits);
                if (parsed != bits) fail_msg("%s %x prints as %s", kind_name(kind), (unsigned)bits, out);
            }
        }
    }
}

/* The nearest value by search over all of them; on a tie the even pattern. */
static uint16_t nearest_by_search(enum kv_kind kind, double value) {
    uint16_t patterns = kind == KIND_FLOAT8_E4M3 ? 0x7f : 0x7c; /* finite ones */
    uint16_t best = 0;
    double least = HUGE_VAL;
    for (uint16_t bits = 0; bits < patterns; bits++) {
        double distance = fabs((double)numtext_small_to_float32(kind, bits) - fabs(value));
        if (distance < least || (distance == least && bits % 2 == 0)) {
            least = distance;
            best = bits;
        }
    }
    return (uint16_t)(best | (signbit(value) ? 0x80 : 0));
}

static void small_floats_are_rounded_to_the_nearest_even(void **state) {
    (void)state;
    for (int round = 0; round < 200000; round++) {
        double value = ((double)(random_next() >> 11) - 0x1p52) * ldexp(1.0, (int)(random_next() % 20) - 60);
        if (round % 2) value = (double)((int64_t)(random_next() % 16384) - 8192) / 16.0; /* many ties */
        if (fabs(value) > 440) value /= 64;
        assert_int_equal(numtext_small_from_float64(KIND_FLOAT8_E4M3, value), nearest_by_search(KIND_FLOAT8_E4M3, value));
        assert_int_equal(numtext_small_from_float64(KIND_FLOAT8_E5M2, value), nearest_by_search(KIND_FLOAT8_E5M2, value));
    }
    static const struct {
        enum kv_kind kind;
        double value;
        uint16_t bits;
    } rows[] = {
        {KIND_FLOAT16, 1.0, 0x3c00}, {KIND_FLOAT16, 65504.0, 0x7bff}, {KIND_FLOAT16, 65519.99, 0x7bff},
        {KIND_FLOAT16, 65520.0, 0x7c00}, {KIND_FLOAT16, -HUGE_VAL, 0xfc00}, {KIND_FLOAT16, 0x1p-24, 0x0001},
        {KIND_FLOAT16, 0x1p-25, 0x0000}, {KIND_FLOAT16, 0x1.8p-25, 0x0001}, {KIND_FLOAT16, 2049.0, 0x6800},
        {KIND_FLOAT16, 2051.0, 0x6802}, {KIND_FLOAT16, -0.0, 0x8000}, {KIND_FLOAT16, 1e300, 0x7c00},
        {KIND_FLOAT16, 1.0 + 0x1p-11 + 0x1p-40, 0x3c01}, /* through float32 it would round twice, to 0x3c00 */
        {KIND_BFLOAT16, 1.0, 0x3f80}, {KIND_BFLOAT16, 3.3895313892515355e38, 0x7f7f}, {KIND_BFLOAT16, 3.4e38, 0x7f80},
        {KIND_BFLOAT16, 1.00390625, 0x3f80}, {KIND_BFLOAT16, 1.01171875, 0x3f82}, {KIND_FLOAT8_E4M3, 448.0, 0x7e},
        {KIND_FLOAT8_E4M3, 464.0, 0x7e}, {KIND_FLOAT8_E4M3, 464.1, 0x7f}, {KIND_FLOAT8_E4M3, 1e9, 0x7f},
        {KIND_FLOAT8_E4M3, -HUGE_VAL, 0xff}, {KIND_FLOAT8_E4M3, 0x1p-9, 0x01}, {KIND_FLOAT8_E4M3, 0x1p-10, 0x00},
        {KIND_FLOAT8_E5M2, 57344.0, 0x7b}, {KIND_FLOAT8_E5M2, 61440.0, 0x7c}, {KIND_FLOAT8_E5M2, 61439.0, 0x7b},
        {KIND_FLOAT8_E5M2, HUGE_VAL, 0x7c}, {KIND_FLOAT64, 1.0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (numtext_small_from_float64(rows[i].kind, rows[i].value) != rows[i].bits)
            fail_msg("%s of %a", kind_name(rows[i].kind), rows[i].value);
    assert_true(isnan(numtext_small_to_float32(KIND_FLOAT16, numtext_small_from_float64(KIND_FLOAT16, (double)NAN))));
    assert_true(isnan(numtext_small_to_float32(KIND_INT64, 0)));
}

int main(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--random")) random_rounds = strtoull(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--seed")) random_state = strtoull(argv[i + 1], NULL, 10);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_print_as_the_language_says),
        cmocka_unit_test(floats_print_as_the_language_says),
        cmocka_unit_test(random_doubles_read_back_and_are_shortest),
        cmocka_unit_test(random_floats_read_back_and_are_shortest),
        cmocka_unit_test(hard_decimals_are_rounded_right),
        cmocka_unit_test(midpoints_are_rounded_right),
        cmocka_unit_test(random_decimals_agree_with_the_c_library),
        cmocka_unit_test(fixed_digits_agree_with_the_c_library),
        cmocka_unit_test(integers_print_and_read_back),
        cmocka_unit_test(integer_limits_are_kept),
        cmocka_unit_test(every_small_float_converts_and_prints_and_reads_back),
        cmocka_unit_test(small_floats_are_rounded_to_the_nearest_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
