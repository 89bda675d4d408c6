/* The scanner: every token of language.md §1, its aliases, literals with their values, places in code points.
 * Relies on the layout library. Each case is a text and the tokens that must come of it, spelled `kind:text`. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "layout/diag.h"
#include "layout/scan.h"
#include "layout/unicode.h"

static struct ast_arena arena;
static struct diag_list diags;

static int clean(void **state) {
    (void)state;
    diag_free(&diags);
    ast_arena_free(&arena);
    return 0;
}

static struct scan_token first_token(const char *text, size_t length) {
    struct scan scan;
    struct scan_token token;
    scan_start(&scan, &arena, &diags, (struct ast_text){text, (uint32_t)length});
    scan_next(&scan, &token);
    return token;
}

/* All tokens of a text: names and paths by their text, strings in <…>, other tokens by their canonical spelling. */
static const char *tokens_of(const char *text) {
    static char out[4096];
    size_t used = 0;
    struct scan scan;
    struct scan_token token;
    scan_start(&scan, &arena, &diags, ast_text_of(text));
    for (scan_next(&scan, &token); token.kind != TOKEN_END; scan_next(&scan, &token)) {
        const char *gap = used == 0 ? "" : token.line_before ? "|" : " ";
        bool named = token.kind == TOKEN_IDENTIFIER || token.kind == TOKEN_PATH;
        struct ast_text shown = named || token.kind == TOKEN_STRING ? token.text : ast_text_of(scan_kind_text(token.kind));
        if (token.kind == TOKEN_INT || token.kind == TOKEN_FLOAT) shown = token.raw;
        if (token.kind == TOKEN_BAD) shown = ast_text_of("BAD");
        const char *form = token.kind == TOKEN_STRING ? "%s<%.*s>" : "%s%.*s";
        used += (size_t)snprintf(out + used, sizeof out - used, form, gap, (int)shown.length, shown.at);
    }
    return used ? out : "";
}

static void aliases_become_canonical(void **state) {
    (void)state;
    assert_string_equal("a = b", tokens_of("a <- b"));
    assert_string_equal("x = 1", tokens_of("x<-1"));
    assert_string_equal("x = - 1", tokens_of("x<--1"));
    assert_string_equal("x < - 1", tokens_of("x < -1"));
    assert_string_equal("a ÷ b", tokens_of("a / b"));
    assert_string_equal("a ÷|b", tokens_of("a /\nb"));
    assert_string_equal("a != b <= c >= d", tokens_of("a ≠ b ≤ c ≥ d"));
    assert_string_equal("m · x", tokens_of("m.x"));
    assert_string_equal("m · * k", tokens_of("m.*k"));
    assert_string_equal("m · [ 1 ]", tokens_of("m.[1]"));
    assert_string_equal("f ( ) · x", tokens_of("f().x"));
    assert_string_equal("a [ 0 ] · x", tokens_of("a[0].x"));
    assert_string_equal("a . b", tokens_of("a . b"));
    assert_string_equal("1 ... x ...", tokens_of("1... x..."));
    assert_string_equal("null", tokens_of("null"));
    assert_int_equal(0, diags.errors);
}

static void paths_take_their_members(void **state) {
    (void)state;
    assert_string_equal("/tmp/counter", tokens_of("/tmp/counter"));
    assert_string_equal("/n1·next", tokens_of("/n1.next"));
    assert_string_equal("/lib/math·Pi·x", tokens_of("/lib/math·Pi.x"));
    assert_string_equal("/vthread/7/x", tokens_of("/vthread/7/x"));
    assert_string_equal("/a · * k", tokens_of("/a.*k"));
    assert_string_equal("/a [ 1 ] · b", tokens_of("/a[1].b"));
    assert_string_equal("/数/_x", tokens_of("/数/_x"));
    assert_string_equal("x + /a", tokens_of("x+/a"));
    assert_string_equal("/a ÷ 2", tokens_of("/a / 2"));
    assert_string_equal("time/duration · millis ( 5 )", tokens_of("time/duration.millis(5)"));
    assert_string_equal("7 /x", tokens_of("7/x"));
    assert_int_equal(4, first_token("/abc·d", 7).base_length);
    assert_int_equal(0, diags.errors);
}

static void operators_take_the_longest_sign(void **state) {
    (void)state;
    assert_string_equal("a -> b", tokens_of("a->b"));
    assert_string_equal("a - > b", tokens_of("a - > b"));
    assert_string_equal("<< < <= >> > >= == = != ! && & || | ^ %", tokens_of("<< < <= >> > >= == = != ! && & || | ^ %"));
    assert_string_equal("( ) [ ] { } , ; : @ ? √ × ÷", tokens_of("()[]{},;:@?√×÷"));
}

static void comments_are_put_aside(void **state) {
    (void)state;
    struct scan scan;
    struct scan_token token;
    const char *text = "a # one\n// two\nb /* three\n */ c";
    scan_start(&scan, &arena, &diags, ast_text_of(text));
    for (scan_next(&scan, &token); token.kind != TOKEN_END; scan_next(&scan, &token)) {}
    assert_int_equal(3, scan.comment_count);
    assert_false(scan.comments[0].own_line);
    assert_true(scan.comments[1].own_line);
    assert_true(scan.comments[2].block);
    assert_int_equal(2, scan.comments[1].at.line);
    assert_int_equal(4, scan.comments[2].end_line);
    assert_string_equal("<# no // /* comment>", tokens_of("\"# no // /* comment\""));
    assert_string_equal("a|b c", tokens_of("a\nb /* \n */ c"));
}

static void integers_have_their_values(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t bits;
    } cases[] = {
        {"0", 0}, {"42", 42}, {"1_000_000", 1000000}, {"0xff_FF", 0xffff}, {"0XA", 10}, {"0b1010", 10}, {"9223372036854775807", INT64_MAX},
        {"9223372036854775808", (uint64_t)INT64_MAX + 1}, {"18446744073709551615", UINT64_MAX}, {"0xffff_ffff_ffff_ffff", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scan_token token = first_token(cases[i].text, strlen(cases[i].text));
        assert_int_equal(TOKEN_INT, token.kind);
        assert_true(cases[i].bits == token.bits);
        assert_int_equal(cases[i].bits > INT64_MAX, token.is_unsigned);
    }
    static const char *const wrong[] = {"18446744073709551616", "0x10000000000000000", "007", "00", "01.5", "1_", "1__0", "12abc",
                                        "0x", "0b2", "0o7", "1.", "1.x", "1e", "1e+", "1e999", "0b", "0x_1", "1._5", "5é"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_int_equal(TOKEN_BAD, first_token(wrong[i], strlen(wrong[i])).kind);
}

static void floats_have_their_values(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"1e3", 1000.0}, {"0.5", 0.5}, {"2.5e-3", 0.0025}, {"1_0.2_5", 10.25}, {"1E+2", 100.0}, {"0e0", 0.0}, {"1e-999", 0.0}, {"0.1", 0.1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scan_token token = first_token(cases[i].text, strlen(cases[i].text));
        assert_int_equal(TOKEN_FLOAT, token.kind);
        assert_true(cases[i].value == token.real);
    }
    assert_int_equal(TOKEN_INT, first_token("1...", 4).kind);
}

static void assert_string(const char *text, size_t length, const char *value, size_t value_length) {
    struct scan_token token = first_token(text, length);
    assert_int_equal(TOKEN_STRING, token.kind);
    assert_int_equal(value_length, token.text.length);
    assert_memory_equal(value, token.text.at, value_length);
    assert_int_equal(length, token.end.offset);
}

#define STRING(text, value) assert_string(text, sizeof(text) - 1, value, sizeof(value) - 1)

static void strings_have_their_values(void **state) {
    (void)state;
    STRING("\"\"", "");
    STRING("'it is'", "it is");
    STRING("\"a\\tb\\n\\r\\0\\\\\\\"\\'\"", "a\tb\n\r\0\\\"'");
    STRING("\"\\x41\\xe9\\u{1F600}\\u{0}\"", "A\xC3\xA9\xF0\x9F\x98\x80\0");
    STRING("\"\"\"a\nb \"quoted\" \\t\"\"\"", "a\nb \"quoted\" \t");
    STRING("\"\"\"\"\"\"", "");
    STRING("\"\"\"a\r\nb\"\"\"", "a\nb");
    STRING("`raw \\n\nstays`", "raw \\n\nstays");
    STRING("r\"x\\y\"", "x\\y");
    STRING("r#\"a \"b\" \\n\"#", "a \"b\" \\n");
    STRING("r##\"ends \"# here\"##", "ends \"# here");
    assert_int_equal(0, diags.errors);
    static const char *const wrong[] = {"\"abc", "'abc\n'", "\"\\q\"", "\"\\x4\"", "\"\\u{110000}\"", "\"\\u{D800}\"", "\"\\u{}\"", "\"\\u41\"",
                                        "\"\"\"abc\"\"", "`abc", "r#\"abc\"", "\"abc\\", "\"abc\\\n\""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_int_equal(TOKEN_BAD, first_token(wrong[i], strlen(wrong[i])).kind);
}

static void columns_count_code_points(void **state) {
    (void)state;
    struct scan scan;
    struct scan_token token;
    scan_start(&scan, &arena, &diags, ast_text_of("größe = \"日本\" ×\n\t数 é"));
    static const struct ast_pos places[] = {{0, 1, 1}, {8, 1, 7}, {10, 1, 9}, {19, 1, 14}, {23, 2, 2}, {27, 2, 4}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        scan_next(&scan, &token);
        assert_int_equal(places[i].offset, token.at.offset);
        assert_int_equal(places[i].line, token.at.line);
        assert_int_equal(places[i].column, token.at.column);
    }
}

static void names_are_letters_of_any_alphabet(void **state) {
    (void)state;
    assert_string_equal("π_1 été ж2 数 _x ª", tokens_of("π_1 été ж2 数 _x ª"));
    assert_int_equal(0, diags.errors);
    assert_string_equal("BAD", tokens_of("€"));
    assert_string_equal("BAD pc", tokens_of("‥pc"));
    assert_string_equal("BAD", tokens_of("🙂"));
    assert_string_equal("BAD", tokens_of("٣")); /* a digit begins no name and is no number */
    assert_string_equal("a٣", tokens_of("a٣"));
}

static void utf8_is_decoded_strictly(void **state) {
    (void)state;
    static const char *const wrong[] = {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xFF"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_int_equal(0, unicode_first_bad(wrong[i], strlen(wrong[i])));
    for (uint32_t c = 1; c <= 0x10FFFF; c += c < 0x900 ? 1 : 37) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        char bytes[4];
        uint32_t back = 0;
        unsigned length = unicode_encode(c, bytes);
        assert_int_equal(length, unicode_decode(bytes, length, &back));
        assert_int_equal(c, back);
        if (length > 1) assert_int_equal(0, unicode_decode(bytes, length - 1, &back));
    }
}

static void widths_are_those_of_a_terminal(void **state) {
    (void)state;
    assert_int_equal(1, diag_width('a'));
    assert_int_equal(2, diag_width(0x65E5)); /* 日 */
    assert_int_equal(2, diag_width(0x1F600));
    assert_int_equal(2, diag_width(0xFF21)); /* full-width A */
    assert_int_equal(2, diag_width(0xAC00)); /* 가 */
    assert_int_equal(0, diag_width(0x0301));
    assert_int_equal(0, diag_width(0x200D));
    assert_int_equal(1, diag_width(0x00E9));
    assert_int_equal(1, diag_width(0x0416));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(aliases_become_canonical, clean),
        cmocka_unit_test_teardown(paths_take_their_members, clean),
        cmocka_unit_test_teardown(operators_take_the_longest_sign, clean),
        cmocka_unit_test_teardown(comments_are_put_aside, clean),
        cmocka_unit_test_teardown(integers_have_their_values, clean),
        cmocka_unit_test_teardown(floats_have_their_values, clean),
        cmocka_unit_test_teardown(strings_have_their_values, clean),
        cmocka_unit_test_teardown(columns_count_code_points, clean),
        cmocka_unit_test_teardown(names_are_letters_of_any_alphabet, clean),
        cmocka_unit_test_teardown(utf8_is_decoded_strictly, clean),
        cmocka_unit_test_teardown(widths_are_those_of_a_terminal, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
