/* UTF-8: every code point there and back, every kind of bad sequence, counting and positions, conversions, identifiers,
 * and the quoting of textout.h. */
#include "kvspace/textout.h"
#include "kvspace/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_code_point_comes_back(void **state) {
    (void)state;
    uint32_t valid = 0;
    for (uint32_t point = 0; point < 0x120000; point++) {
        char bytes[UTF8_BYTES_MAX + 1] = {0};
        size_t count = utf8_encode(point, bytes);
        assert_int_equal(count > 0, utf8_point_is_valid(point));
        if (count == 0) continue;
        uint32_t back = 0;
        assert_int_equal(utf8_decode(bytes, count, &back), count);
        assert_int_equal(back, point);
        for (size_t cut = 0; cut < count; cut++) assert_int_equal(utf8_decode(bytes, cut, &back), 0);
        valid++;
    }
    assert_int_equal(valid, 0x110000 - 0x800);
}

/* All sequences of up to three bytes: valid exactly when re-encoding what was decoded gives the same bytes. */
static void every_short_sequence_is_judged_right(void **state) {
    (void)state;
    for (uint32_t word = 0; word < 1 << 24; word += word < 0x800000 ? 7 : 1) {
        char bytes[3] = {(char)(word >> 16), (char)(word >> 8), (char)word};
        uint32_t point;
        size_t taken = utf8_decode(bytes, 3, &point);
        if (taken == 0) continue;
        char again[UTF8_BYTES_MAX];
        assert_int_equal(utf8_encode(point, again), taken);
        assert_memory_equal(again, bytes, taken);
    }
}

static void bad_sequences_are_refused_at_their_byte(void **state) {
    (void)state;
    static const char *const bad[] = {"\x80",         "\xbf",         "\xc0\x80",         "\xc1\xbf",         "\xc2",
                                      "\xc2 ",        "\xe0\x80\x80", "\xe0\x9f\xbf",     "\xe2\x82",         "\xed\xa0\x80",
                                      "\xed\xbf\xbf", "\xf0\x80\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
                                      "\xf8\x88\x80", "\xff",         "\xfe",             "\xf0\x9f\x98"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        for (size_t before = 0; before < 20; before++) { /* at every place relative to the steps of eight */
            char text[64];
            memset(text, 'a', sizeof text);
            memcpy(text + before, bad[i], strlen(bad[i]));
            size_t length = before + strlen(bad[i]);
            assert_int_equal(utf8_valid_prefix(text, length), before);
            assert_false(utf8_is_valid(text, length));
            assert_false(utf8_is_ascii(text, length));
        }
    }
    assert_true(utf8_is_valid("", 0));
    assert_true(utf8_is_valid("\0", 1));
    assert_true(utf8_is_ascii("0123456789abcdefg", 17));
}

static void code_points_are_counted(void **state) {
    (void)state;
    static const char text[] = "aé€😀 the end of a longer text, ·‥·";
    size_t length = sizeof text - 1;
    size_t count = 0;
    for (size_t at = 0; at < length; count++) {
        uint32_t point;
        assert_int_equal(utf8_position(text, length, count), at);
        assert_int_equal(utf8_count(text, at), count);
        at += utf8_decode(text + at, length - at, &point);
    }
    assert_int_equal(utf8_count(text, length), count);
    assert_int_equal(utf8_position(text, length, count), length);
    assert_int_equal(utf8_position(text, length, count + 5), length);
}

static void encodings_convert(void **state) {
    (void)state;
    static const char text[] = "aé€😀";
    static const uint32_t points[] = {'a', 0xe9, 0x20ac, 0x1f600};
    uint32_t wide[8];
    char bytes[16];
    size_t written;
    assert_int_equal(utf8_to_utf32(text, 10, wide, 8, &written), 10);
    assert_int_equal(written, 4);
    assert_memory_equal(wide, points, sizeof points);
    assert_int_equal(utf8_to_utf32(text, 10, wide, 2, &written), 3);
    assert_int_equal(utf8_to_utf32("a\xff", 2, wide, 8, &written), 1);
    assert_int_equal(utf32_utf8_bytes(points, 4), 10);
    assert_int_equal(utf32_to_utf8(points, 4, bytes, sizeof bytes, &written), 4);
    assert_int_equal(written, 10);
    assert_memory_equal(bytes, text, 10);
    assert_int_equal(utf32_to_utf8(points, 4, bytes, 9, &written), 3); /* never half a character */
    assert_int_equal(written, 6);
    assert_int_equal(utf32_to_ascii(points, 4, bytes, sizeof bytes, &written), 1);
    assert_int_equal(ascii_to_utf32("ab\x80", 3, wide, 8, &written), 2);
    static const uint32_t bad[] = {0xd800};
    assert_true(utf32_utf8_bytes(bad, 1) == SIZE_MAX);
    assert_int_equal(utf32_to_utf8(bad, 1, bytes, sizeof bytes, &written), 0);
}

static void identifiers_are_told_from_the_rest(void **state) {
    (void)state;
    static const char *const good[] = {"a", "_", "x1", "Größe", "名前", "имя", "_0", "ªb", "µ"};
    static const char *const bad[] = {"", "1a", "a b", "a·b", "‥pc", "a-b", "×", "÷", "√", "≠", "😀", "a\xff", "\xc2\xa0", "«a»", "a、b"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!utf8_is_identifier(good[i], strlen(good[i]))) fail_msg("%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (utf8_is_identifier(bad[i], strlen(bad[i]))) fail_msg("%s", bad[i]);
}

static void quoting_shows_what_cannot_be_seen(void **state) {
    (void)state;
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    text_put_quoted(&out, "a\"\\\n\0\x1b\x7f\xc2\x85\xe2\x80\xae\xffé", 15);
    assert_string_equal(buffer.bytes, "\"a\\\"\\\\\\n\\0\\x1b\\x7f\\x85\\u{202e}\\u{fffd}é\"");
    text_buffer_free(&buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_comes_back),
        cmocka_unit_test(every_short_sequence_is_judged_right),
        cmocka_unit_test(bad_sequences_are_refused_at_their_byte),
        cmocka_unit_test(code_points_are_counted),
        cmocka_unit_test(encodings_convert),
        cmocka_unit_test(identifiers_are_told_from_the_rest),
        cmocka_unit_test(quoting_shows_what_cannot_be_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
