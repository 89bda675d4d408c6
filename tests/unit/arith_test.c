/* Operators over every mix of kinds: widths, wrapping, division, shifts, exact comparison, time; and conversions.
 * Relies on a heap in private memory. Promises: each edge that language.md §3 names has a line here; random pairs are checked
 * against arithmetic in 128 bits, with the seed printed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "core/arith.h"
#include "core/array.h"
#include "core/text.h"
#include "core/value.h"

static struct heap heap;

static int open_heap(void **state) {
    (void)state;
    return heap_private_open(&heap, 1 << 26);
}
static int close_heap(void **state) {
    (void)state;
    heap_private_close(&heap);
    return 0;
}

static struct cell int_of(unsigned kind, int64_t value) { return cell_scalar(kind, arith_wrap(kind, (uint64_t)value)); }

static struct cell done(enum arith_op op, struct cell a, struct cell b, unsigned literals) {
    struct cell out = cell_none();
    int rc = arith_binary(&heap, op, &a, &b, literals, &out);
    if (rc) fail_msg("%s", heap.fault.message);
    return out;
}

static void wants(enum arith_op op, struct cell a, struct cell b, struct cell expected) {
    struct cell out = done(op, a, b, 0);
    assert_int_equal(expected.head, out.head);
    if (expected.payload != out.payload) fail_msg("op %d: expected %lld, got %lld", (int)op, (long long)expected.payload, (long long)out.payload);
}

static void refuses(enum arith_op op, struct cell a, struct cell b, int kind) {
    struct cell out;
    assert_int_equal(kind, arith_binary(&heap, op, &a, &b, 0, &out));
    assert_true(heap.fault.message[0]);
}

static void integers_take_the_wider_kind_and_wrap_there(void **state) {
    (void)state;
    wants(ARITH_ADD, int_of(KIND_INT8, 100), int_of(KIND_INT8, 100), int_of(KIND_INT8, -56));
    wants(ARITH_ADD, int_of(KIND_INT8, 100), cell_int64(100), cell_int64(200));
    wants(ARITH_ADD, int_of(KIND_INT8, 1), int_of(KIND_UINT32, 1), int_of(KIND_INT32, 2));
    wants(ARITH_ADD, int_of(KIND_UINT8, 200), int_of(KIND_UINT8, 100), int_of(KIND_UINT8, 44));
    wants(ARITH_SUB, int_of(KIND_UINT8, 3), int_of(KIND_UINT8, 5), int_of(KIND_UINT8, 254));
    wants(ARITH_MUL, int_of(KIND_INT16, 300), int_of(KIND_INT16, 300), int_of(KIND_INT16, 24464));
    wants(ARITH_ADD, cell_uint64(UINT64_MAX), cell_int64(1), cell_int64(0));
    wants(ARITH_ADD, cell_int64(INT64_MAX), cell_int64(1), cell_int64(INT64_MIN));
    wants(ARITH_MUL, cell_int64(INT64_MIN), cell_int64(-1), cell_int64(INT64_MIN));
}

static void a_literal_joins_an_unsigned_operand(void **state) {
    (void)state;
    struct cell out = done(ARITH_ADD, int_of(KIND_UINT8, 200), cell_int64(100), ARITH_RIGHT_LITERAL);
    assert_int_equal(KIND_UINT64, cell_tag(&out));
    assert_int_equal(300, out.payload);
    out = done(ARITH_SUB, cell_uint64(5), cell_int64(7), ARITH_RIGHT_LITERAL);
    assert_int_equal(KIND_UINT64, cell_tag(&out));
    assert_true(out.payload == UINT64_MAX - 1);
    out = done(ARITH_ADD, int_of(KIND_UINT8, 1), cell_int64(-1), ARITH_RIGHT_LITERAL);
    assert_int_equal(KIND_INT64, cell_tag(&out));
    out = done(ARITH_ADD, int_of(KIND_INT8, 1), cell_int64(1), ARITH_RIGHT_LITERAL);
    assert_int_equal(KIND_INT64, cell_tag(&out));
    out = done(ARITH_SUB, cell_int64(7), cell_uint64(3), ARITH_LEFT_LITERAL);
    assert_int_equal(KIND_UINT64, cell_tag(&out));
}

static void division_truncates_and_never_traps(void **state) {
    (void)state;
    wants(ARITH_DIV, cell_int64(-7), cell_int64(2), cell_int64(-3));
    wants(ARITH_MOD, cell_int64(-7), cell_int64(2), cell_int64(-1));
    wants(ARITH_MOD, cell_int64(7), cell_int64(-2), cell_int64(1));
    wants(ARITH_DIV, cell_int64(INT64_MIN), cell_int64(-1), cell_int64(INT64_MIN));
    wants(ARITH_MOD, cell_int64(INT64_MIN), cell_int64(-1), cell_int64(0));
    wants(ARITH_DIV, int_of(KIND_INT8, -128), int_of(KIND_INT8, -1), int_of(KIND_INT8, -128));
    wants(ARITH_DIV, cell_uint64(UINT64_MAX), cell_uint64(10), cell_uint64(UINT64_C(1844674407370955161)));
    wants(ARITH_DIV, cell_uint64(UINT64_MAX), cell_int64(-1), cell_int64(1)); /* the true quotient, wrapped */
    refuses(ARITH_DIV, cell_int64(1), cell_int64(0), ERROR_ZERO_DIVISION);
    refuses(ARITH_MOD, cell_int64(1), cell_int64(0), ERROR_ZERO_DIVISION);
    refuses(ARITH_DIV, cell_float64(1), cell_float64(0), ERROR_ZERO_DIVISION);
    refuses(ARITH_DIV, cell_float64(1), cell_float64(-0.0), ERROR_ZERO_DIVISION);
    wants(ARITH_MOD, cell_float64(-5.5), cell_float64(2), cell_float64(-1.5));
}

static void floats_mix_to_float64(void **state) {
    (void)state;
    wants(ARITH_ADD, cell_float32(0.1f), cell_float32(0.2f), cell_float32(0.1f + 0.2f));
    wants(ARITH_MUL, cell_float32(0.5f), cell_int64(3), cell_float64(1.5));
    wants(ARITH_ADD, cell_uint64(UINT64_MAX), cell_float64(0), cell_float64(18446744073709551616.0));
    struct cell storage = cell_scalar(KIND_FLOAT16, 0x3c00);
    refuses(ARITH_ADD, storage, storage, ERROR_TYPE);
}

static void shifts_have_the_kind_of_the_left(void **state) {
    (void)state;
    wants(ARITH_SHL, int_of(KIND_INT8, 1), cell_int64(7), int_of(KIND_INT8, -128));
    wants(ARITH_SHR, cell_int64(-8), cell_int64(1), cell_int64(-4));
    wants(ARITH_SHR, cell_int64(-1), cell_int64(63), cell_int64(-1));
    wants(ARITH_SHR, cell_uint64(UINT64_C(1) << 63), cell_int64(63), cell_uint64(1));
    wants(ARITH_SHL, int_of(KIND_UINT8, 255), cell_int64(4), int_of(KIND_UINT8, 240));
    refuses(ARITH_SHL, int_of(KIND_INT8, 1), cell_int64(8), ERROR_VALUE);
    refuses(ARITH_SHL, cell_int64(1), cell_int64(64), ERROR_VALUE);
    refuses(ARITH_SHR, cell_int64(1), cell_int64(-1), ERROR_VALUE);
    refuses(ARITH_SHL, cell_float64(1), cell_int64(1), ERROR_TYPE);
}

static void numbers_compare_by_value(void **state) {
    (void)state;
    struct cell yes = cell_bool(true), no = cell_bool(false);
    wants(ARITH_EQ, cell_int64(3), cell_float64(3), yes);
    wants(ARITH_GT, cell_uint64(UINT64_MAX), cell_int64(-1), yes);
    wants(ARITH_EQ, cell_uint64(UINT64_MAX), cell_int64(-1), no);
    wants(ARITH_EQ, cell_int64(INT64_C(9007199254740993)), cell_float64(9007199254740992.0), no);
    wants(ARITH_GT, cell_int64(INT64_C(9007199254740993)), cell_float64(9007199254740992.0), yes);
    wants(ARITH_LT, cell_uint64(UINT64_MAX), cell_float64(18446744073709551616.0), yes);
    wants(ARITH_LT, cell_int64(INT64_MAX), cell_float64(9223372036854775808.0), yes);
    wants(ARITH_EQ, cell_int64(INT64_MIN), cell_float64(-9223372036854775808.0), yes);
    wants(ARITH_EQ, cell_float32(0.1f), cell_float64(0.1), no);
    wants(ARITH_EQ, cell_float64(-0.0), cell_float64(0.0), yes);
    struct cell nan = cell_float64((double)NAN);
    wants(ARITH_EQ, nan, nan, no);
    wants(ARITH_NEQ, nan, nan, yes);
    wants(ARITH_LE, nan, cell_int64(1), no);
    wants(ARITH_GE, cell_int64(1), nan, no);
    wants(ARITH_LT, cell_int64(1), cell_float64((double)INFINITY), yes);
    wants(ARITH_GT, cell_uint64(0), cell_float64(-(double)INFINITY), yes);
}

static void categories_do_not_mix(void **state) {
    (void)state;
    struct cell text = text_of_point('a');
    refuses(ARITH_EQ, cell_int64(1), cell_bool(true), ERROR_TYPE);
    refuses(ARITH_EQ, text, cell_int64(1), ERROR_TYPE);
    refuses(ARITH_LT, cell_bool(false), cell_bool(true), ERROR_TYPE);
    refuses(ARITH_LT, cell_none(), cell_int64(1), ERROR_TYPE);
    refuses(ARITH_ADD, cell_none(), cell_int64(1), ERROR_TYPE);
    assert_non_null(strstr(heap.fault.message, "None"));
    refuses(ARITH_ADD, text, cell_int64(1), ERROR_TYPE);
    refuses(ARITH_AND, cell_int64(1), cell_bool(true), ERROR_TYPE);
    wants(ARITH_EQ, cell_none(), cell_none(), cell_bool(true));
    wants(ARITH_EQ, cell_none(), cell_int64(0), cell_bool(false));
    wants(ARITH_NEQ, text, cell_none(), cell_bool(true));
    struct cell time = cell_scalar(KIND_TIME, 10), span = cell_scalar(KIND_DURATION, 3);
    wants(ARITH_ADD, time, span, cell_scalar(KIND_TIME, 13));
    wants(ARITH_SUB, time, time, cell_scalar(KIND_DURATION, 0));
    refuses(ARITH_ADD, time, time, ERROR_TYPE);
    refuses(ARITH_EQ, time, span, ERROR_TYPE);
}

static int64_t converted(unsigned kind, struct cell from, int expected) {
    struct cell out = cell_none();
    assert_int_equal(expected, value_convert(&heap, kind, &from, &out));
    if (!expected) assert_int_equal(kind, cell_tag(&out));
    return (int64_t)out.payload;
}

static void conversions_wrap_or_refuse(void **state) {
    (void)state;
    assert_int_equal(44, converted(KIND_INT8, cell_int64(300), 0));
    assert_int_equal(255, converted(KIND_UINT8, cell_int64(-1), 0));
    assert_int_equal(3, converted(KIND_INT64, cell_float64(3.99), 0));
    assert_int_equal(-3, converted(KIND_INT64, cell_float64(-3.99), 0));
    assert_int_equal(0, converted(KIND_UINT8, cell_float64(-0.9), 0));
    converted(KIND_INT64, cell_float64((double)NAN), ERROR_VALUE);
    converted(KIND_INT64, cell_float64((double)INFINITY), ERROR_VALUE);
    converted(KIND_INT64, cell_float64(9223372036854775808.0), ERROR_VALUE);
    converted(KIND_INT8, cell_float64(128.0), ERROR_VALUE);
    converted(KIND_UINT8, cell_float64(-1.0), ERROR_VALUE);
    assert_true((uint64_t)converted(KIND_UINT64, cell_float64(18446744073709549568.0), 0) == UINT64_C(18446744073709549568));
    assert_int_equal(INT64_MIN, converted(KIND_INT64, cell_float64(-9223372036854775808.0), 0));
    assert_int_equal(1, converted(KIND_BOOL, cell_float64(0.5), 0));
    assert_int_equal(0, converted(KIND_BOOL, cell_float64(-0.0), 0));
    converted(KIND_INT64, cell_none(), ERROR_TYPE);
    converted(KIND_INT64, text_of_point('1'), ERROR_TYPE);
    /* one rounding from int64 to float32, not two */
    struct cell out;
    struct cell odd = cell_int64((INT64_C(1) << 60) + (INT64_C(1) << 36) + 1);
    assert_int_equal(0, value_convert(&heap, KIND_FLOAT32, &odd, &out));
    assert_true(cell_as_float32(&out) == 0x1.000002p60f);
}

static void literals_fit_or_not(void **state) {
    (void)state;
    struct cell out, big = cell_int64(300), one = cell_float64(1), half = cell_float64(0.5), huge = cell_float64(1e300);
    assert_false(literal_fits(&big, KIND_UINT8, &out));
    assert_true(literal_fits(&big, KIND_INT16, &out));
    assert_true(literal_fits(&big, KIND_FLOAT32, &out));
    assert_false(literal_fits(&one, KIND_INT64, &out));
    assert_true(literal_fits(&half, KIND_FLOAT16, &out));
    assert_false(literal_fits(&huge, KIND_FLOAT32, &out));
}

/* Against 128 bits: every pair of integer kinds, values at the edges and random ones. */
static void random_integers_agree_with_wide_arithmetic(void **state) {
    (void)state;
    unsigned seed = (unsigned)time(NULL);
    printf("seed %u\n", seed);
    uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int i = 0; i < 200000; i++) {
        uint64_t bits[2];
        for (int j = 0; j < 2; j++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            bits[j] = i % 3 == 0 ? x : (x & 7) - 3 + ((x >> 8 & 1) << 63);
        }
        unsigned ka = KIND_INT8 + (unsigned)(x >> 20) % 8, kb = KIND_INT8 + (unsigned)(x >> 30) % 8;
        struct cell a = int_of(ka, (int64_t)bits[0]), b = int_of(kb, (int64_t)bits[1]);
        __extension__ typedef __int128 wide;
        wide wa = ka == KIND_UINT64 ? (wide)a.payload : (wide)cell_as_int64(&a), wb = kb == KIND_UINT64 ? (wide)b.payload : (wide)cell_as_int64(&b);
        unsigned kind = arith_result_kind(ka, kb);
        wants(ARITH_ADD, a, b, int_of(kind, (int64_t)(uint64_t)(wa + wb)));
        wants(ARITH_MUL, a, b, cell_scalar(kind, arith_wrap(kind, (uint64_t)wa * (uint64_t)wb)));
        if (wb != 0) {
            wants(ARITH_DIV, a, b, int_of(kind, (int64_t)(uint64_t)(wa / wb)));
            wants(ARITH_MOD, a, b, int_of(kind, (int64_t)(uint64_t)(wa % wb)));
        }
        wants(ARITH_LT, a, b, cell_bool(wa < wb));
        wants(ARITH_EQ, a, b, cell_bool(wa == wb));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_take_the_wider_kind_and_wrap_there),
        cmocka_unit_test(a_literal_joins_an_unsigned_operand),
        cmocka_unit_test(division_truncates_and_never_traps),
        cmocka_unit_test(floats_mix_to_float64),
        cmocka_unit_test(shifts_have_the_kind_of_the_left),
        cmocka_unit_test(numbers_compare_by_value),
        cmocka_unit_test(categories_do_not_mix),
        cmocka_unit_test(conversions_wrap_or_refuse),
        cmocka_unit_test(literals_fit_or_not),
        cmocka_unit_test(random_integers_agree_with_wide_arithmetic),
    };
    return cmocka_run_group_tests(tests, open_heap, close_heap);
}
