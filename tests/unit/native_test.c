/* The natives, called as the executor calls them: edges that the examples of natives.def do not show.
 * Relies on a heap in private memory; kv· is tested by programs. Promises: arguments are never changed, nothing leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/array.h"
#include "core/call.h"
#include "core/map.h"
#include "core/text.h"
#include "core/value.h"

static struct heap heap;
static uint64_t stream[2];

static int open_heap(void **state) {
    (void)state;
    return heap_private_open(&heap, UINT64_C(1) << 26);
}
static int close_heap(void **state) {
    (void)state;
    heap_private_close(&heap);
    return 0;
}

static struct cell text(const char *utf8) {
    struct cell out;
    if (text_from_utf8(&heap, utf8, strlen(utf8), &out)) fail_msg("%s", heap.fault.message);
    return out;
}

static struct cell ints(uint64_t count, const int64_t *values) {
    struct cell out;
    assert_int_equal(0, array_from(&heap, KIND_INT64, 1, &count, values, &out));
    return out;
}

/* Calls a native; drops the arguments. */
static int called(const char *name, uint32_t count, struct cell *args, struct cell *out) {
    const struct native_row *row = native_find(name, strlen(name));
    if (!row) fail_msg("there is no %s", name);
    const struct cell *pointers[8];
    char before[8][128], after[128];
    for (uint32_t i = 0; i < count; i++) {
        pointers[i] = &args[i];
        value_picture(&heap, &args[i], before[i], sizeof before[i]);
    }
    struct core_services services = { .random = stream };
    *out = cell_none();
    struct core_call call = { .heap = &heap, .args = pointers, .results = out, .arg_count = count, .result_count = row->results, .services = &services, .row = row };
    assert_true(count >= row->least && (row->most == 255 || count <= row->most));
    int rc = row->run(&call);
    if (row->reuse == EFFECT_RANDOM && !rc) stream[0] = stream[1];
    for (uint32_t i = 0; i < count; i++) {
        value_picture(&heap, &args[i], after, sizeof after);
        assert_string_equal(before[i], after);
        cell_drop(&heap, args[i]);
    }
    if (rc) assert_true(heap.fault.message[0]);
    return rc;
}

#define CELLS(...) (uint32_t)(sizeof((struct cell[]){ __VA_ARGS__ }) / sizeof(struct cell)), (struct cell[]){ __VA_ARGS__ }

static void gives(const char *expected, const char *name, uint32_t count, struct cell *args) {
    struct cell out;
    if (called(name, count, args, &out)) fail_msg("%s: %s", name, heap.fault.message);
    struct text_buffer buffer = { 0 };
    struct text_out sink = text_buffer_out(&buffer);
    assert_int_equal(0, value_print(&heap, &out, false, &sink));
    assert_string_equal(expected, buffer.bytes ? buffer.bytes : "");
    text_buffer_free(&buffer);
    cell_drop(&heap, out);
}

static void refuses(int kind, const char *part, const char *name, uint32_t count, struct cell *args) {
    struct cell out;
    assert_int_equal(kind, called(name, count, args, &out));
    if (!strstr(heap.fault.message, part)) fail_msg("%s: \"%s\" is not in \"%s\"", name, part, heap.fault.message);
    cell_drop(&heap, out);
}

static void every_row_is_complete(void **state) {
    (void)state;
    uint32_t count;
    const struct native_row *rows = native_table(&count);
    assert_true(count > 140);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(rows[i].run && rows[i].doc[0] && rows[i].example[0] && rows[i].prints[0]);
        assert_true(rows[i].signature[0] == '(' && strstr(rows[i].signature, ") -> ("));
        assert_true(rows[i].least <= rows[i].most);
        assert_true(native_find(rows[i].name, strlen(rows[i].name)) == &rows[i]); /* no name twice */
    }
    static const char alias[] = "kvspace·get";
    assert_true(native_find(alias, sizeof alias - 1) == native_find("kv·get", strlen("kv·get")));
    assert_null(native_find("nothing", 7));
}

static void mathematics_keeps_kinds(void **state) {
    (void)state;
    gives("-9223372036854775808", "pow", CELLS(cell_int64(2), cell_int64(63)));
    gives("0", "pow", CELLS(cell_int64(2), cell_int64(64)));
    gives("1", "pow", CELLS(cell_int64(0), cell_int64(0)));
    refuses(ERROR_VALUE, "pow(2, -1)", "pow", CELLS(cell_int64(2), cell_int64(-1)));
    refuses(ERROR_VALUE, "-1.0", "sqrt", CELLS(cell_float64(-1)));
    refuses(ERROR_VALUE, "0.0", "log", CELLS(cell_float64(0)));
    refuses(ERROR_VALUE, "2", "asin", CELLS(cell_int64(2)));
    gives("-9223372036854775808", "abs", CELLS(cell_int64(INT64_MIN)));
    gives("18446744073709551615", "abs", CELLS(cell_uint64(UINT64_MAX)));
    gives("3.0", "round", CELLS(cell_float64(2.5)));
    gives("7", "floor", CELLS(cell_int64(7)));
    gives("0.5", "sqrt", CELLS(cell_float32(0.25f)));
    gives("18446744073709551615", "max", CELLS(cell_uint64(UINT64_MAX), cell_uint64(1)));
    gives("b", "max", CELLS(text("a"), text("b")));
    refuses(ERROR_TYPE, "max", "max", CELLS(cell_bool(true), cell_bool(false)));
    refuses(ERROR_TYPE, "sqrt: x is a number, not None", "sqrt", CELLS(cell_none()));
}

static void ranges_count_either_way(void **state) {
    (void)state;
    gives("[]", "range", CELLS(cell_int64(5), cell_int64(2)));
    gives("[9223372036854775806]", "range", CELLS(cell_int64(INT64_MAX - 1), cell_int64(INT64_MAX)));
    gives("[-9223372036854775808, -1]", "range", CELLS(cell_int64(INT64_MIN), cell_int64(1), cell_int64(INT64_MAX)));
    gives("[1, 0]", "range", CELLS(cell_int64(1), cell_int64(-1), cell_int64(-1)));
    refuses(ERROR_VALUE, "step", "range", CELLS(cell_int64(0), cell_int64(1), cell_int64(0)));
    refuses(ERROR_TYPE, "float64", "range", CELLS(cell_float64(1)));
}

static void strings_count_points(void **state) {
    (void)state;
    gives("3", "string·find", CELLS(text("日本の🍎と犬"), text("🍎")));
    gives("-1", "string·find", CELLS(text("abc"), text("abcd")));
    gives("0", "string·find", CELLS(text("abc"), text("")));
    gives("3", "string·rfind", CELLS(text("abc"), text("")));
    gives("{0=\"\", 1=\"\"}", "string·split", CELLS(text(","), text(",")));
    gives("{0=\"\"}", "string·split", CELLS(text(""), text(",")));
    refuses(ERROR_VALUE, "separator", "string·split", CELLS(text("abc"), text("")));
    refuses(ERROR_VALUE, "empty", "string·replace", CELLS(text("abc"), text(""), text("x")));
    gives("xx", "string·replace", CELLS(text("aaaa"), text("aa"), text("x")));
    gives("", "string·repeat", CELLS(text("abc"), cell_int64(0)));
    refuses(ERROR_VALUE, "-1", "string·repeat", CELLS(text("abc"), cell_int64(-1)));
    refuses(ERROR_OUT_OF_MEMORY, "room", "string·repeat", CELLS(text("abc"), cell_int64(INT64_MAX)));
    refuses(ERROR_VALUE, "2", "string·ord", CELLS(text("ab")));
    refuses(ERROR_VALUE, "55296", "string·chr", CELLS(cell_int64(0xd800)));
    gives("aÉb", "string·set", CELLS(text("aéb"), cell_int64(1), text("É")));
    refuses(ERROR_INDEX, "3", "string·set", CELLS(text("aéb"), cell_int64(3), text("É")));
    gives("ÄÖÜ ΣЖ ß", "string·upper", CELLS(text("äöü σж ß")));
    gives("x y", "string·trim", CELLS(text("\u00a0\t x y\u2003\n")));
    refuses(ERROR_TYPE, "string·len: s is []char/utf32, not int64", "string·len", CELLS(cell_int64(1)));
}

static void numbers_from_and_to_text(void **state) {
    (void)state;
    gives("-9223372036854775808", "string·parseint", CELLS(text("-9223372036854775808")));
    refuses(ERROR_VALUE, "out of range", "string·parseint", CELLS(text("9223372036854775808")));
    refuses(ERROR_VALUE, "no int64", "string·parseint", CELLS(text("12x")));
    refuses(ERROR_VALUE, "no int64", "string·parseint", CELLS(text("")));
    gives("-9223372036854775808", "string·parseint", CELLS(text("-8000000000000000"), cell_int64(16)));
    refuses(ERROR_VALUE, "out of range", "string·parseint", CELLS(text("8000000000000000"), cell_int64(16)));
    refuses(ERROR_VALUE, "base", "string·parseint", CELLS(text("1"), cell_int64(1)));
    refuses(ERROR_VALUE, "uint64", "string·parseuint", CELLS(text("-1")));
    gives("5e-324", "string·parsefloat", CELLS(text("5e-324")));
    refuses(ERROR_VALUE, "out of range", "string·parsefloat", CELLS(text("1e999")));
    gives("-8000000000000000", "string·formatint", CELLS(cell_int64(INT64_MIN), cell_int64(16)));
    gives("[   42][42   ][00042][ff][%][é  ]", "string·format", CELLS(text("[%5d][%-5d][%05d][%x][%%][%-3s]"), cell_int64(42), cell_int64(42), cell_int64(42), cell_int64(255), text("é")));
    gives("1e-05 100000 1e+06 0.0001", "string·format", CELLS(text("%g %g %g %g"), cell_float64(0.00001), cell_float64(100000), cell_float64(1000000), cell_float64(0.0001)));
    gives("-0x1f +7  nan", "string·format", CELLS(text("%#x %+d %4f"), cell_int64(-31), cell_int64(7), cell_float64(0.0 * 1e308 * 1e308 - 1e308 * 1e308 + 1e308 * 1e308)));
    refuses(ERROR_TYPE, "%d", "string·format", CELLS(text("%d"), cell_float64(1)));
    refuses(ERROR_TYPE, "no argument", "string·format", CELLS(text("%d %d"), cell_int64(1)));
    refuses(ERROR_TYPE, "takes 1", "string·format", CELLS(text("%d"), cell_int64(1), cell_int64(2)));
    refuses(ERROR_TYPE, "%q", "string·format", CELLS(text("%q"), cell_int64(1)));
    refuses(ERROR_VALUE, "cut off", "string·format", CELLS(text("%5"), cell_int64(1)));
}

static void arrays_at_their_edges(void **state) {
    (void)state;
    const int64_t some[] = { 5, 3, 9, 1 };
    gives("[]", "array·slice", CELLS(ints(4, some), cell_int64(2), cell_int64(2)));
    gives("[5, 3, 9, 1]", "array·slice", CELLS(ints(4, some), cell_int64(INT64_MIN), cell_int64(INT64_MAX)));
    gives("[1, 3, 5, 9]", "array·sort", CELLS(ints(4, some)));
    gives("[]", "array·sort", CELLS(ints(0, some)));
    gives("0", "array·sum", CELLS(ints(0, some)));
    gives("-1", "array·find", CELLS(ints(4, some), cell_int64(4)));
    gives("2", "array·find", CELLS(ints(4, some), cell_float64(9)));
    refuses(ERROR_TYPE, "array·find", "array·find", CELLS(ints(4, some), text("9")));
    refuses(ERROR_TYPE, "int64", "array·append", CELLS(ints(4, some), cell_float64(1)));
    refuses(ERROR_INDEX, "9", "array·scatter", CELLS(ints(1, some), ints(1, &some[2]), ints(1, some)));
    gives("[[5, 3], [9, 1]]", "xv·reshape", CELLS(ints(4, some), cell_int64(2), cell_int64(2)));
    refuses(ERROR_VALUE, "4 elements", "xv·reshape", CELLS(ints(4, some), cell_int64(3)));
    refuses(ERROR_VALUE, "elements", "xv·reshape", CELLS(ints(4, some), cell_int64(INT64_MAX), cell_int64(4)));
    gives("1.0", "xv·reinterpret", CELLS(cell_int64(INT64_C(0x3ff0000000000000)), text("float64")));
    refuses(ERROR_VALUE, "size", "xv·reinterpret", CELLS(cell_int64(1), text("float32")));
    const double mixed[] = { 2.5, 0.0 / 1.0, -1.5 };
    uint64_t three = 3;
    struct cell floats;
    assert_int_equal(0, array_from(&heap, KIND_FLOAT64, 1, &three, mixed, &floats));
    gives("[-1.5, 0.0, 2.5]", "array·sort", CELLS(floats));
}

static void times_and_durations(void **state) {
    (void)state;
    refuses(ERROR_VALUE, "range", "time/duration·hours", CELLS(cell_int64(INT64_MAX)));
    gives("-1", "time/duration·as_seconds", CELLS(cell_scalar(KIND_DURATION, (uint64_t)INT64_C(-1500000000))));
    gives("-1", "time·unix", CELLS(cell_scalar(KIND_TIME, (uint64_t)INT64_C(-1))));
    refuses(ERROR_VALUE, "no time", "time·parse", CELLS(text("yesterday")));
    refuses(ERROR_TYPE, "duration", "time·add", CELLS(cell_scalar(KIND_TIME, 1), cell_int64(1)));
}

static void a_seeded_stream_repeats(void **state) {
    (void)state;
    struct cell out, first[20];
    for (int round = 0; round < 2; round++) {
        assert_int_equal(0, called("random·seed", CELLS(cell_int64(42)), &out));
        for (int i = 0; i < 20; i++) {
            struct cell n = cell_int64(1000);
            assert_int_equal(0, called(i % 2 ? "random·uint64" : "random·intn", i % 2 ? 0 : 1, &n, &out));
            if (i % 2 == 0) assert_in_range(out.payload, 0, 999);
            if (round == 0) first[i] = out;
            else assert_true(first[i].payload == out.payload);
        }
    }
    refuses(ERROR_VALUE, "0", "random·intn", CELLS(cell_int64(0)));
}

static void maps_give_their_keys(void **state) {
    (void)state;
    gives("{a=1, b=2}", "map", CELLS(text("a"), cell_int64(1), text("b"), cell_int64(2)));
    refuses(ERROR_TYPE, "last key", "map", CELLS(text("a")));
    struct cell map;
    assert_int_equal(0, called("map", CELLS(cell_int64(5), text("x"), cell_int64(-7), text("yy")), &map));
    gives("[5, -7]", "map·keys", CELLS(cell_copy(&heap, &map)));
    gives("{0=\"x\", 1=\"yy\"}", "map·values", CELLS(cell_copy(&heap, &map)));
    gives("{-7=\"yy\"}", "map·del", CELLS(cell_copy(&heap, &map), cell_int64(5)));
    gives("{5=\"x\", -7=\"yy\"}", "map·del", CELLS(cell_copy(&heap, &map), cell_int64(6)));
    gives("2", "map·len", CELLS(map));
    refuses(ERROR_TYPE, "map·len: m is a map", "map·len", CELLS(cell_int64(1)));
}

static void nothing_leaks(void **state) {
    (void)state;
    struct cell out;
    for (int warm = 0; warm < 2; warm++) gives("{0=\"ab\", 1=\"cd\"}", "string·split", CELLS(text("ab,cd"), text(",")));
    uint64_t before = heap_private_blocks(&heap);
    for (int i = 0; i < 100; i++) {
        gives("{0=\"abc\", 1=\"cde\"}", "string·split", CELLS(text("abc,cde"), text(",")));
        assert_int_equal(0, called("string·concat", CELLS(text("abc"), text("defg"), text("hij")), &out));
        cell_drop(&heap, out);
        refuses(ERROR_TYPE, "string·concat", "string·concat", CELLS(text("abc"), text("defg"), cell_int64(1)));
        refuses(ERROR_INDEX, "9", "string·set", CELLS(text("abcd"), cell_int64(9), text("x")));
    }
    assert_true(heap_private_blocks(&heap) == before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(mathematics_keeps_kinds),
        cmocka_unit_test(ranges_count_either_way),
        cmocka_unit_test(strings_count_points),
        cmocka_unit_test(numbers_from_and_to_text),
        cmocka_unit_test(arrays_at_their_edges),
        cmocka_unit_test(times_and_durations),
        cmocka_unit_test(a_seeded_stream_repeats),
        cmocka_unit_test(maps_give_their_keys),
        cmocka_unit_test(nothing_leaks),
    };
    return cmocka_run_group_tests(tests, open_heap, close_heap);
}
