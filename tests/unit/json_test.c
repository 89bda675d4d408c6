/* JSON: the writer's exact text, what the parser takes and refuses (with the byte), and numbers that keep their value. */
#include "kvspace/json.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- writing ---- */

static void write_sample(struct json_writer *writer) {
    json_object_begin(writer);
    json_key_text(writer, "a");
    json_array_begin(writer);
    json_put_int64(writer, INT64_MIN);
    json_put_uint64(writer, UINT64_MAX);
    json_put_float64(writer, 0.1);
    json_put_float64(writer, 1e16);
    json_put_float32(writer, 0.1F);
    json_put_float64(writer, (double)NAN);
    json_put_float32(writer, -(float)INFINITY);
    json_array_end(writer);
    json_key(writer, "é\"\n", 4);
    json_put_string(writer, "\x01\\/\t\x7f\xff\xe2\x80\xa8😀", 13);
    json_key_text(writer, "empty");
    json_object_begin(writer);
    json_object_end(writer);
    json_key_text(writer, "b");
    json_put_bool(writer, true);
    json_key_text(writer, "n");
    json_put_null(writer);
    json_key_text(writer, "r");
    json_put_raw(writer, "[1]", 3);
    json_object_end(writer);
}

static void the_writer_writes_this(void **state) {
    (void)state;
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    struct json_writer writer = {.out = &out};
    write_sample(&writer);
    assert_int_equal(json_finish(&writer), JSON_OK);
    assert_string_equal(buffer.bytes,
                        "{\"a\":[-9223372036854775808,18446744073709551615,0.1,1e+16,0.1,\"nan\",\"-inf\"],\"é\\\"\\n\":"
                        "\"\\u0001\\\\/\\t\x7f\\ufffd\\u2028😀\",\"empty\":{},\"b\":true,\"n\":null,\"r\":[1]}");
    text_buffer_free(&buffer);
    out = text_buffer_out(&buffer);
    writer = (struct json_writer){.out = &out, .indent = 2};
    json_array_begin(&writer);
    json_array_begin(&writer);
    json_array_end(&writer);
    json_object_begin(&writer);
    json_key_text(&writer, "k");
    json_put_text(&writer, "v");
    json_object_end(&writer);
    json_array_end(&writer);
    assert_int_equal(json_finish(&writer), JSON_OK);
    assert_string_equal(buffer.bytes, "[\n  [],\n  {\n    \"k\": \"v\"\n  }\n]");
    text_buffer_free(&buffer);
}

static void misuse_of_the_writer_is_an_error(void **state) {
    (void)state;
    for (int wrong = 0; wrong < 9; wrong++) {
        struct text_buffer buffer = {0};
        struct text_out out = text_buffer_out(&buffer);
        struct json_writer writer = {.out = &out};
        switch (wrong) {
        case 0: json_object_begin(&writer), json_put_null(&writer); break;               /* a value without a key */
        case 1: json_array_begin(&writer), json_key_text(&writer, "k"); break;           /* a key in an array */
        case 2: json_array_begin(&writer), json_object_end(&writer); break;              /* the wrong end */
        case 3: json_array_end(&writer); break;                                          /* an end alone */
        case 4: json_put_null(&writer), json_put_null(&writer); break;                   /* two values */
        case 5: json_object_begin(&writer), json_key_text(&writer, "k"), json_object_end(&writer); break;
        case 6: json_object_begin(&writer), json_key_text(&writer, "k"), json_key_text(&writer, "k"); break;
        case 7: json_array_begin(&writer); break; /* left open */
        default: break;                           /* nothing */
        }
        assert_int_equal(json_finish(&writer), JSON_EMISUSE);
        text_buffer_free(&buffer);
    }
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    struct json_writer writer = {.out = &out};
    for (int i = 0; i < JSON_DEPTH_MAX; i++) json_array_begin(&writer);
    assert_int_equal(out.error, JSON_OK);
    json_array_begin(&writer);
    assert_int_equal(out.error, JSON_EDEPTH);
    text_buffer_free(&buffer);
    struct text_buffer small = {.limit = 3};
    out = text_buffer_out(&small);
    writer = (struct json_writer){.out = &out};
    json_put_text(&writer, "too long");
    assert_int_equal(json_finish(&writer), TEXT_ELIMIT);
    text_buffer_free(&small);
}

/* ---- reading ---- */

/* The events as letters, each leaf with its text. */
static int events_of(const char *text, size_t length, char *out, size_t *position) {
    struct json_reader reader = {.text = text, .length = length};
    struct json_token token;
    int rc;
    while ((rc = json_next(&reader, &token)) == 0 && token.event != JSON_END) {
        static const char letters[] = " ntf#sk[]{}";
        *out++ = letters[token.event];
        bool leaf = token.event == JSON_NUMBER || token.event == JSON_STRING || token.event == JSON_KEY;
        if (!leaf) continue;
        out += json_decode(&token, out);
        *out++ = ' ';
    }
    *out = 0;
    *position = reader.at;
    assert_int_equal(json_next(&reader, &token), rc); /* it sticks */
    assert_int_equal(token.event, JSON_END);
    return rc;
}

static void valid_texts_give_their_events(void **state) {
    (void)state;
    static const struct {
        const char *text, *events;
    } rows[] = {
        {"null", "n"}, {" true ", "t"}, {"false", "f"}, {"0", "#0 "}, {"-0", "#-0 "}, {"12.5e+3", "#12.5e+3 "}, {"\"\"", "s "},
        {"[]", "[]"}, {"{}", "{}"}, {"[1,[2],{}]", "[#1 [#2 ]{}]"}, {"{\"a\":1,\"b\":[null]}", "{ka #1 kb [n]}"},
        {"\r\n\t [ 1 , 2 ] ", "[#1 #2 ]"}, {"\"\\u00e9\\n\\\"\\/\\b\\f\\r\\t\\\\\"", "sé\n\"/\b\f\r\t\\ "},
        {"\"\\ud83d\\ude00\"", "s😀 "}, {"\"\\u0041\\uFFFF\"", "sA\xef\xbf\xbf "}, {"\"\x7f\"", "s\x7f "}, {"1E5", "#1E5 "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char events[200];
        size_t position;
        if (events_of(rows[i].text, strlen(rows[i].text), events, &position)) fail_msg("%s at %zu", rows[i].text, position);
        assert_string_equal(events, rows[i].events);
    }
}

static void bad_texts_are_refused_where_they_are_bad(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t position;
    } rows[] = {
        {"", 0}, {"  ", 2}, {"nul", 0}, {"True", 0}, {"+1", 0}, {"01", 2}, {"-", 1}, {"1.", 2}, {".5", 0}, {"1e", 2}, {"1e+", 3},
        {"--1", 1}, {"0x10", 1}, {"1 2", 2}, {"NaN", 0}, {"Infinity", 0}, {"[", 1}, {"[1", 2}, {"[1,", 3}, {"[1,]", 3}, {"[,1]", 1},
        {"[1 2]", 3}, {"]", 0}, {"[}", 1}, {"{", 1}, {"{]", 1}, {"{1:2}", 1}, {"{\"a\"}", 4}, {"{\"a\":}", 5}, {"{\"a\":1,}", 7},
        {"{\"a\":1 \"b\":2}", 7}, {"{\"a\" 1}", 5}, {"{a:1}", 1}, {"'a'", 0}, {"\"a", 2}, {"\"a\nb\"", 2}, {"\"\\x41\"", 1},
        {"\"\\u12\"", 1}, {"\"\\ud800\"", 1}, {"\"\\udc00\"", 1}, {"\"\\ud800\\u0041\"", 1}, {"\"\\ud800x\"", 1}, {"\"\xff\"", 1},
        {"\"\xc3\"", 1}, {"\"\xed\xa0\x80\"", 1}, {"[1]]", 3}, {"// c\n1", 0}, {"\xef\xbb\xbf"
                                                                                "1", 0}, {"\"\\", 1}, {"[\"a\\\"]", 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char events[200];
        size_t position;
        int rc = events_of(rows[i].text, strlen(rows[i].text), events, &position);
        if (rc != JSON_ESYNTAX || position != rows[i].position) fail_msg("%s: %d at %zu", rows[i].text, rc, position);
    }
    char events[8];
    size_t position;
    assert_int_equal(events_of("\"\0\"", 3, events, &position), JSON_ESYNTAX);
    assert_int_equal(events_of("1\0", 2, events, &position), JSON_ESYNTAX);
}

static void depth_is_limited(void **state) {
    (void)state;
    static char text[2 * JSON_DEPTH_MAX + 2];
    static char events[4 * JSON_DEPTH_MAX];
    size_t position;
    memset(text, '[', JSON_DEPTH_MAX);
    memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    assert_int_equal(events_of(text, 2 * JSON_DEPTH_MAX, events, &position), JSON_OK);
    memset(text, '[', sizeof text);
    assert_int_equal(events_of(text, sizeof text, events, &position), JSON_EDEPTH);
    assert_int_equal(position, JSON_DEPTH_MAX);
}

static struct json_token only_token(const char *text) {
    struct json_reader reader = {.text = text, .length = strlen(text)};
    struct json_token token;
    assert_int_equal(json_next(&reader, &token), JSON_OK);
    return token;
}

static void numbers_keep_their_value(void **state) {
    (void)state;
    int64_t whole;
    uint64_t large;
    double real;
    struct json_token token = only_token("-9223372036854775808");
    assert_int_equal(json_int64(&token, &whole), JSON_OK);
    assert_true(whole == INT64_MIN);
    assert_int_equal(json_uint64(&token, &large), JSON_ERANGE);
    token = only_token("18446744073709551615");
    assert_int_equal(json_int64(&token, &whole), JSON_ERANGE);
    assert_int_equal(json_uint64(&token, &large), JSON_OK);
    assert_true(large == UINT64_MAX);
    token = only_token("1.0");
    assert_int_equal(json_int64(&token, &whole), JSON_ERANGE);
    assert_int_equal(json_float64(&token, &real), JSON_OK);
    token = only_token("1e400");
    assert_int_equal(json_float64(&token, &real), JSON_ERANGE);
    token = only_token("\"-inf\"");
    assert_int_equal(json_float64(&token, &real), JSON_OK);
    assert_true(isinf(real) && real < 0);
    token = only_token("\"nan\"");
    assert_int_equal(json_float64(&token, &real), JSON_OK);
    assert_true(isnan(real));
    token = only_token("\"1.5\"");
    assert_int_equal(json_float64(&token, &real), JSON_ERANGE);
    token = only_token("true");
    assert_int_equal(json_float64(&token, &real), JSON_ERANGE);
}

static void values_can_be_skipped(void **state) {
    (void)state;
    static const char text[] = "{\"skip\":{\"a\":[1,{\"b\":2}]},\"t\\u0061ke\":7}";
    struct json_reader reader = {.text = text, .length = sizeof text - 1};
    struct json_token token;
    assert_int_equal(json_next(&reader, &token), 0);
    assert_int_equal(json_next(&reader, &token), 0);
    assert_true(json_is(&token, "skip"));
    assert_int_equal(json_next(&reader, &token), 0);
    assert_int_equal(json_skip(&reader, &token), 0);
    assert_int_equal(json_next(&reader, &token), 0);
    assert_true(json_is(&token, "take"));
    assert_false(json_is(&token, "tak"));
    assert_false(json_is(&token, "taken"));
    assert_int_equal(json_next(&reader, &token), 0);
    assert_int_equal(json_skip(&reader, &token), 0);
    assert_int_equal(json_next(&reader, &token), 0);
    assert_int_equal(token.event, JSON_OBJECT_END);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_writer_writes_this),
        cmocka_unit_test(misuse_of_the_writer_is_an_error),
        cmocka_unit_test(valid_texts_give_their_events),
        cmocka_unit_test(bad_texts_are_refused_where_they_are_bad),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(numbers_keep_their_value),
        cmocka_unit_test(values_can_be_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
