/* Strings: the three encodings, short ones in the cell and long ones in blocks, cutting, joining, hashing, growth in place.
 * Relies on a heap in private memory. Promises: the edges of index, slice and encoding; random texts agree with a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "core/array.h"
#include "core/text.h"
#include "core/value.h"

static struct heap heap;

static int open_heap(void **state) {
    (void)state;
    return heap_private_open(&heap, UINT64_C(1) << 28);
}
static int close_heap(void **state) {
    (void)state;
    uint64_t blocks = heap_private_blocks(&heap);
    heap_private_close(&heap);
    if (blocks) print_error("%llu blocks are left\n", (unsigned long long)blocks);
    return blocks ? 1 : 0;
}

static struct cell text(const char *utf8) {
    struct cell out;
    if (text_from_utf8(&heap, utf8, strlen(utf8), &out)) fail_msg("%s", heap.fault.message);
    return out;
}

static void holds(struct cell cell, const char *expected) {
    char buffer[4096];
    assert_true(text_to_utf8(&heap, &cell, buffer, sizeof buffer, NULL));
    assert_string_equal(expected, buffer);
    cell_drop(&heap, cell);
}

static void short_strings_take_no_memory(void **state) {
    (void)state;
    uint64_t before = heap_private_blocks(&heap);
    struct cell one = text("界"), two = text("😀é"), none = text(""), out;
    assert_int_equal(1, text_length(&heap, &one));
    assert_int_equal(0, text_concat(&heap, &one, &one, false, &out));
    holds(out, "界界");
    assert_int_equal(0, text_at(&heap, &two, -1, &out));
    holds(out, "é");
    holds(none, "");
    assert_true(heap_private_blocks(&heap) == before);
    assert_int_equal(0, text_concat(&heap, &two, &one, false, &out)); /* three points: a block */
    assert_true(heap_private_blocks(&heap) == before + 1);
    holds(out, "😀é界");
}

static void an_index_counts_code_points(void **state) {
    (void)state;
    struct cell word = text("日本😀é!"), out;
    assert_int_equal(5, text_length(&heap, &word));
    assert_int_equal(0, text_at(&heap, &word, 2, &out));
    holds(out, "😀");
    assert_int_equal(0, text_at(&heap, &word, -5, &out));
    holds(out, "日");
    assert_int_equal(ERROR_INDEX, text_at(&heap, &word, 5, &out));
    assert_non_null(strstr(heap.fault.message, "5"));
    assert_int_equal(ERROR_INDEX, text_at(&heap, &word, -6, &out));
    assert_int_equal(ERROR_INDEX, text_at(&heap, &word, INT64_MIN, &out));
    struct cell narrow;
    assert_int_equal(0, text_convert(&heap, &word, KIND_CHAR_UTF8, &narrow));
    assert_int_equal(ERROR_TYPE, text_at(&heap, &narrow, 0, &out));
    assert_int_equal(5, text_length(&heap, &narrow));
    assert_int_equal(0, text_slice(&heap, &narrow, 1, 3, &out));
    assert_int_equal(KIND_CHAR_UTF8, cell_kind(&out));
    holds(out, "本😀");
    cell_drop(&heap, narrow);
    cell_drop(&heap, word);
}

static void slices_clamp(void **state) {
    (void)state;
    struct cell word = text("hello world"), out;
    const struct { int64_t from, to; const char *expected; } cases[] = {
        { 0, 5, "hello" }, { -5, INT64_MAX, "world" }, { 3, 3, "" }, { 5, 2, "" }, { INT64_MIN, INT64_MAX, "hello world" }, { 100, 200, "" }, { -100, -10, "h" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(0, text_slice(&heap, &word, cases[i].from, cases[i].to, &out));
        holds(out, cases[i].expected);
    }
    assert_int_equal(0, text_slice(&heap, &word, 0, 100, &out));
    assert_true(out.payload == word.payload); /* all of it: shared */
    cell_drop(&heap, out);
    cell_drop(&heap, word);
}

static void encodings_convert_and_compare_as_text(void **state) {
    (void)state;
    struct cell wide = text("naïve text"), narrow, ascii, out;
    assert_int_equal(0, text_convert(&heap, &wide, KIND_CHAR_UTF8, &narrow));
    assert_true(text_equal(&heap, &wide, &narrow));
    assert_true(text_hash(&heap, &wide) == text_hash(&heap, &narrow));
    assert_int_equal(ERROR_VALUE, text_convert(&heap, &wide, KIND_CHAR_ASCII, &ascii));
    assert_non_null(strstr(heap.fault.message, "ï"));
    assert_int_equal(ERROR_VALUE, text_convert(&heap, &narrow, KIND_CHAR_ASCII, &ascii));
    assert_non_null(strstr(heap.fault.message, "U+00EF"));
    struct cell plain = text("plain ascii text");
    assert_int_equal(0, text_convert(&heap, &plain, KIND_CHAR_ASCII, &ascii));
    assert_true(text_hash(&heap, &plain) == text_hash(&heap, &ascii));
    assert_int_equal(0, text_concat(&heap, &ascii, &narrow, false, &out));
    assert_int_equal(KIND_CHAR_UTF8, cell_kind(&out));
    holds(out, "plain ascii textnaïve text");
    assert_true(text_order(&heap, &ascii, &narrow) > 0);
    struct cell bad;
    assert_int_equal(ERROR_VALUE, text_from_utf8(&heap, "a\xff", 2, &bad));
    cell_drop(&heap, wide);
    cell_drop(&heap, narrow);
    cell_drop(&heap, plain);
    cell_drop(&heap, ascii);
}

static void order_is_by_code_point(void **state) {
    (void)state;
    const char *sorted[] = { "", "Z", "a", "ab", "z", "é", "\xef\xbf\xbf", "\xf0\x90\x80\x80" };
    for (size_t i = 0; i + 1 < sizeof sorted / sizeof sorted[0]; i++) {
        struct cell a = text(sorted[i]), b = text(sorted[i + 1]);
        assert_true(text_order(&heap, &a, &b) < 0);
        assert_true(text_order(&heap, &b, &a) > 0);
        assert_int_equal(0, text_order(&heap, &a, &a));
        cell_drop(&heap, a);
        cell_drop(&heap, b);
    }
}

static void a_lone_string_grows_in_place(void **state) {
    (void)state;
    struct cell sum = text("abc"), piece = text("xyz"), next;
    unsigned moved = 0;
    for (int i = 0; i < 100000; i++) {
        assert_int_equal(0, text_concat(&heap, &sum, &piece, true, &next));
        if (next.payload != sum.payload) {
            cell_drop(&heap, sum);
            moved++;
        }
        sum = next;
    }
    assert_true(moved < 60);
    assert_int_equal(300003, text_length(&heap, &sum));
    struct cell kept = sum;
    assert_int_equal(0, text_concat(&heap, &sum, &sum, true, &next)); /* with itself */
    assert_int_equal(600006, text_length(&heap, &next));
    if (next.payload != kept.payload) cell_drop(&heap, kept);
    uint32_t hash = text_hash(&heap, &next);
    array_truncate(&heap, &next, 3); /* the undo of a step that was cut off */
    assert_true(text_hash(&heap, &next) != hash);
    holds(next, "abc");
    cell_drop(&heap, piece);
}

static void random_texts_agree_with_an_array(void **state) {
    (void)state;
    unsigned seed = (unsigned)time(NULL);
    printf("seed %u\n", seed);
    uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int i = 0; i < 20000; i++) {
        uint32_t points[64];
        uint64_t count = 0;
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        for (uint64_t n = x % 64; count < n; count++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            static const uint32_t pool[] = { 'a', 'b', 0xe9, 0x754c, 0x1f600, 0x10ffff };
            points[count] = pool[x % 6];
        }
        struct cell wide, narrow, back, part;
        assert_int_equal(0, text_new(&heap, KIND_CHAR_UTF32, points, count, &wide));
        assert_int_equal(0, text_convert(&heap, &wide, KIND_CHAR_UTF8, &narrow));
        assert_int_equal(0, text_convert(&heap, &narrow, KIND_CHAR_UTF32, &back));
        assert_true(text_equal(&heap, &wide, &back));
        assert_true(text_hash(&heap, &narrow) == text_hash_points(points, count));
        int64_t from = (int64_t)(x >> 40) % 64, to = (int64_t)(x >> 50) % 64;
        assert_int_equal(0, text_slice(&heap, &narrow, from, to, &part));
        uint64_t first = (uint64_t)from < count ? (uint64_t)from : count, end = (uint64_t)to < count ? (uint64_t)to : count, length;
        if (end < first) end = first;
        struct cell hold;
        const uint32_t *got;
        assert_int_equal(0, text_points(&heap, &part, &hold, &got, &length));
        assert_int_equal(end - first, length);
        assert_int_equal(0, memcmp(got, points + first, length * 4));
        cell_drop(&heap, hold);
        cell_drop(&heap, part);
        cell_drop(&heap, wide);
        cell_drop(&heap, narrow);
        cell_drop(&heap, back);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_strings_take_no_memory),
        cmocka_unit_test(an_index_counts_code_points),
        cmocka_unit_test(slices_clamp),
        cmocka_unit_test(encodings_convert_and_compare_as_text),
        cmocka_unit_test(order_is_by_code_point),
        cmocka_unit_test(a_lone_string_grows_in_place),
        cmocka_unit_test(random_texts_agree_with_an_array),
    };
    return cmocka_run_group_tests(tests, open_heap, close_heap);
}
