/* Export and import: both formats keep types, bodies and order; damaged and truncated input gives an error at
 * its byte and no more. Relies on space_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "space_fixture.h"

#define DOT    "\xc2\xb7"
#define SHADOW "\xe2\x80\xa5"

struct stream {
    char *bytes;
    size_t used, capacity, at, piece, stop_after;
};

static int put(void *context, const char *bytes, size_t count) {
    struct stream *stream = context;
    if (stream->stop_after && stream->used + count > stream->stop_after) return 1;
    if (stream->capacity - stream->used < count + 1) {
        stream->capacity = 2 * stream->capacity + count + 1;
        stream->bytes = realloc(stream->bytes, stream->capacity);
        if (!stream->bytes) return 1;
    }
    memcpy(stream->bytes + stream->used, bytes, count);
    stream->used += count;
    stream->bytes[stream->used] = 0;
    return 0;
}

static int get(void *context, char *out, size_t capacity, size_t *count) {
    struct stream *stream = context;
    size_t left = stream->used - stream->at;
    if (stream->piece && capacity > stream->piece) capacity = stream->piece;
    if (stream->stop_after && stream->at >= stream->stop_after) return 1;
    *count = left < capacity ? left : capacity;
    memcpy(out, stream->bytes + stream->at, *count);
    stream->at += *count;
    return 0;
}

static void set_literal(const char *key, const char *literal) {
    struct kvspace_problem problem;
    int rc = kvspace_set_literal(space, key, literal, strlen(literal), &problem);
    if (rc) fail_msg("%s: %s", literal, problem.message);
}

/* One of everything. */
static void fill(void) {
    static const char *const literals[] = {"true",
                                           "int8(-128)",
                                           "uint64(18446744073709551615)",
                                           "int64(-9223372036854775808)",
                                           "float32(0.1)",
                                           "float64(1e-320)",
                                           "float16(1.5)",
                                           "bfloat16(2.5)",
                                           "[1,2,3]",
                                           "[[1.5,2.5],[3.5,4.5]]",
                                           "\"text with \\\"quotes\\\", \\n and \xf0\x9f\x8c\xb3\"",
                                           "\"\"",
                                           "[true,false]",
                                           "{a=1,b={c=[1,2],d=\"x\"}}",
                                           "{}",
                                           "Point{x=1.0,y=2.0}",
                                           "/n1" DOT "next",
                                           "opcode(add)",
                                           "rwfunc(2,1,0,7)",
                                           "param(x:int64)",
                                           "{[1,2]=3}",
                                           "inf",
                                           "nan",
                                           "float32(-inf)",
                                           "time(0)",
                                           "duration(5)"};
    char key[64];
    for (size_t i = 0; i < sizeof literals / sizeof literals[0]; i++) {
        struct kvspace_problem problem;
        snprintf(key, sizeof key, "/x/l%zu", i);
        if (kvspace_set_literal(space, key, literals[i], strlen(literals[i]), &problem))
            print_message("%s: %s\n", literals[i], problem.message);
    }
    for (unsigned kind = 1; kind < KVSPACE_KIND_COUNT; kind++) {
        static const uint64_t dims[] = {2, 0}, four[] = {2, 2};
        unsigned char body[32] = {1, 0, 0, 0, 2, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
        if (kind == KVSPACE_CHAR_ASCII || kind == KVSPACE_CHAR_UTF8 || kind == KVSPACE_CHAR_UTF32)
            for (int i = 0; i < 32; i += 4) body[i] = 'a';
        if (kind == KVSPACE_BOOL) memset(body, 1, sizeof body);
        struct kvspace_value scalar = kvspace_value_scalar((enum kvspace_kind)kind, body),
                             array = kvspace_value_array((enum kvspace_kind)kind, 2, four, body);
        struct kvspace_value line = {.kind = (uint8_t)kind,
                                     .ndim = 1,
                                     .body = body,
                                     .body_bytes = 3 * kvspace_kind_bytes(kind)},
                             empty = kvspace_value_array((enum kvspace_kind)kind, 2, dims, NULL);
        snprintf(key, sizeof key, "/x/k%u/scalar", kind);
        works(kvspace_set(space, key, &scalar));
        snprintf(key, sizeof key, "/x/k%u/line", kind);
        works(kvspace_set(space, key, &line));
        snprintf(key, sizeof key, "/x/k%u/array", kind);
        works(kvspace_set(space, key, &array));
        snprintf(key, sizeof key, "/x/k%u/empty", kind);
        works(kvspace_set(space, key, &empty));
    }
    works(kvspace_set_i64(space, "/x/" SHADOW "pc", 3));
    works(kvspace_set_i64(space, "/x/l13/child/of a container", 4));
    works(kvspace_set_word(space, "/x/word", "opaque-word", "\0\1\xff", 3));
    struct kvspace_value ro = kvspace_value_utf8("fixed", 5);
    ro.ro = 1;
    works(kvspace_set(space, "/x/ro", &ro));
    struct kvspace_value external = {
        .ref = KVSPACE_EXTERNAL, .type = "float32", .body = "file:/tmp/x", .body_bytes = 11};
    works(kvspace_set(space, "/x/external", &external));
    char *big = malloc(300000);
    assert_non_null(big);
    for (int i = 0; i < 300000; i++) big[i] = (char)(i * 7);
    struct kvspace_value bytes = {.kind = KVSPACE_UINT8, .ndim = 1, .body = big, .body_bytes = 300000};
    works(kvspace_set(space, "/x/big", &bytes));
    free(big);
}

/* Everything below both keys is the same, in the same order. */
static void same_below(const char *left, const char *right) {
    struct kvspace_list_options options = {.what = KVSPACE_LIST_ALL};
    struct kvspace_entry one, two;
    kvspace_cursor *cursor[2];
    struct kvspace_value a, b;
    works(kvspace_read_begin(space));
    int rc = kvspace_get(space, left, &a);
    if (kvspace_get(space, right, &b) != rc) fail_msg("%s and %s: one has no value", left, right);
    if (!rc && (!kvspace_value_equal(&a, &b) || a.ro != b.ro)) fail_msg("%s and %s differ", left, right);
    works(kvspace_read_end(space));
    works(kvspace_list_open(space, left, &options, &cursor[0]));
    works(kvspace_list_open(space, right, &options, &cursor[1]));
    for (;;) {
        char below[2][600];
        rc = kvspace_list_next(cursor[0], &one);
        if (kvspace_list_next(cursor[1], &two) != rc) fail_msg("%s and %s: one has more", left, right);
        if (rc) break;
        assert_string_equal(one.text, two.text);
        snprintf(below[0], sizeof below[0], "%s%s", left, one.text);
        snprintf(below[1], sizeof below[1], "%s%s", right, two.text);
        same_below(below[0], below[1]);
    }
    kvspace_list_close(cursor[0]);
    kvspace_list_close(cursor[1]);
}

static void round_trip(enum kvspace_format format, uint32_t indent, size_t piece) {
    struct kvspace_export_options options = {.format = format, .indent = indent};
    struct kvspace_problem problem = {0};
    struct stream stream = {.piece = piece};
    fill();
    works(kvspace_export(space, "/x", &options, put, &stream));
    int rc = kvspace_import(space, "/y", get, &stream, &problem);
    if (rc) fail_msg("%s at byte %zu: %s", kvspace_error_name(rc), problem.position, problem.message);
    same_below("/x", "/y/x");
    struct stream again = {0};
    works(kvspace_export(space, "/y/x", &options, put, &again));
    stream.at = 0;
    works(kvspace_del(space, "/x"));
    works(kvspace_import(space, "/", get, &stream, &problem));
    same_below("/y/x", "/x");
    free(stream.bytes);
    free(again.bytes);
}

static void test_json(void **state) {
    (void)state;
    round_trip(KVSPACE_FORMAT_JSON, 0, 0);
}
static void test_json_indented(void **state) {
    (void)state;
    round_trip(KVSPACE_FORMAT_JSON, 2, 7);
}
static void test_stream(void **state) {
    (void)state;
    round_trip(KVSPACE_FORMAT_STREAM, 0, 0);
}
static void test_stream_in_small_pieces(void **state) {
    (void)state;
    round_trip(KVSPACE_FORMAT_STREAM, 0, 3);
}

static void test_everything(void **state) {
    (void)state;
    struct stream stream = {0};
    struct kvspace_problem problem;
    works(kvspace_set_i64(space, "/", 5));
    works(kvspace_set_i64(space, "/a", 1));
    works(kvspace_export(space, "/", NULL, put, &stream));
    assert_null(strstr(stream.bytes, "/sys"));
    works(kvspace_import(space, "/in", get, &stream, &problem));
    holds_i64("/in", 5);
    holds_i64("/in/a", 1);
    stream.used = 0;
    gives(KVSPACE_ENOENT, kvspace_export(space, "/none", NULL, put, &stream));
    gives(KVSPACE_EKEY, kvspace_export(space, "none", NULL, put, &stream));
    stream.stop_after = 10;
    gives(KVSPACE_ESTOPPED, kvspace_export(space, "/", NULL, put, &stream));
    free(stream.bytes);
}

static void test_overlay_is_flat(void **state) {
    (void)state;
    for (int format = 0; format < 2; format++) {
        struct kvspace_export_options options = {.format =
                                                     format ? KVSPACE_FORMAT_STREAM : KVSPACE_FORMAT_JSON};
        struct stream stream = {0};
        works(kvspace_del_tree(space, "/", NULL));
        set_literal("/base", "{a=1,b=2}");
        works(kvspace_extindex(space, "/over", "/base"));
        works(kvspace_set_i64(space, "/over" DOT "b", 3));
        works(kvspace_export(space, "/over", &options, put, &stream));
        works(kvspace_del(space, "/base"));
        works(kvspace_import(space, "/in", get, &stream, NULL));
        prints("/in/over", "{a=1, b=3}");
        free(stream.bytes);
    }
}

static void test_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "x",
                                      "{}",
                                      "[",
                                      "[1]",
                                      "[{}]",
                                      "[{\"key\":1}]",
                                      "[{\"key\":\"/a\"}]",
                                      "[{\"key\":\"/a\",\"type\":\"int64\"}]",
                                      "[{\"key\":\"a\",\"type\":\"int64\",\"value\":1}]",
                                      "[{\"key\":\"/a//b\",\"type\":\"int64\",\"value\":1}]",
                                      "[{\"key\":\"/a\\u0000\",\"type\":\"int64\",\"value\":1}]",
                                      "[{\"key\":\"/a\",\"type\":\"nonsense(\",\"value\":3}]",
                                      "[{\"key\":\"/a\",\"type\":\"int8\",\"body\":\"0\"}]",
                                      "[{\"key\":\"/a\",\"type\":\"int8\",\"body\":\"0g\"}]",
                                      "[{\"key\":\"/a\",\"type\":\"int8\",\"body\":\"0000\"}]",
                                      "[{\"key\":\"/a\",\"type\":\"\",\"pointer\":\"b\"}]",
                                      "[{\"key\":\"/a\",\"type\":\"int8\",\"store\":\"index\"}]",
                                      "[{\"key\":\"/sys\",\"type\":\"int64\",\"value\":1}]",
                                      "[{\"key\":\"/a\",\"type\":\"int64\",\"value\":1}",
                                      "\x89kvstream\x01\r\n",
                                      "\x89kvstream\x01\r\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct stream stream = {.bytes = (char *)(uintptr_t)bad[i], .used = strlen(bad[i])};
        struct kvspace_problem problem = {0};
        int rc = kvspace_import(space, "/", get, &stream, &problem);
        if (!rc) fail_msg("%s is taken", bad[i]);
        assert_true(problem.message[0]);
        assert_true(problem.position <= stream.used);
    }
    struct stream stream = {
        .bytes =
            (char *)(uintptr_t) "[{\"key\":\"/k\",\"type\":\"int64\",\"value\":7,\"later\":{\"x\":[1]}}]",
        .used = 0,
        .piece = 5};
    stream.used = strlen(stream.bytes);
    works(kvspace_import(space, "/", get, &stream, NULL)); /* a field of a later version */
    holds_i64("/k", 7);
    stream.at = 0;
    stream.stop_after = 20;
    gives(KVSPACE_ESTOPPED, kvspace_import(space, "/", get, &stream, NULL));
}

/* A stream that is cut or has one wrong byte is refused or taken, and never harms the space. */
static void test_damaged_stream(void **state) {
    (void)state;
    struct kvspace_export_options options = {.format = KVSPACE_FORMAT_STREAM};
    struct stream stream = {0};
    set_literal("/s/m", "{a=1,b={c=[1,2],d=\"x\"}}");
    set_literal("/s/t", "\"text\"");
    set_literal("/s/p", "/a" DOT "b");
    works(kvspace_export(space, "/s", &options, put, &stream));
    size_t whole = stream.used;
    for (size_t cut = 0; cut < whole; cut++) {
        stream.at = 0;
        stream.used = cut;
        int rc = kvspace_import(space, "/cut", get, &stream, NULL);
        if (!rc) fail_msg("%zu of %zu bytes are taken", cut, whole);
    }
    stream.used = whole;
    for (size_t at = 0; at < whole; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            stream.at = 0;
            stream.bytes[at] ^= (char)(1u << bit);
            (void)kvspace_import(space, "/flip", get, &stream, NULL);
            stream.bytes[at] ^= (char)(1u << bit);
        }
    works(kvspace_del_tree(space, "/flip", NULL));
    stream.at = 0;
    works(kvspace_import(space, "/in", get, &stream, NULL));
    same_below("/s", "/in/s");
    free(stream.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_json, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_json_indented, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_stream, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_stream_in_small_pieces, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_everything, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_overlay_is_flat, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_refused, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_damaged_stream, open_space, close_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
