/* Values of every kind and shape: scalars, ndarrays up to 8 axes, texts, words, pointers, externals,
 * containers; what is refused; lifetimes of what is lent; writes without a copy; clones, comparison, types,
 * heads as bytes. Relies on space_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "space_fixture.h"

#define DOT "\xc2\xb7"
#define MAP "[]char/utf8" DOT "any"

static void type_is(const char *key, const char *expected) {
    struct kvspace_value value;
    char type[300];
    works(kvspace_get(space, key, &value));
    assert_int_equal(strlen(expected), kvspace_type_of(&value, type, sizeof type));
    assert_string_equal(expected, type);
}

static void test_every_scalar_kind(void **state) {
    (void)state;
    for (unsigned kind = 1; kind < KVSPACE_KIND_COUNT; kind++) {
        unsigned char body[8] = {1, 0x22, 0x33, 0, 0, 0, 0, 0};
        size_t bytes = kvspace_kind_bytes(kind);
        struct kvspace_value value = kvspace_value_scalar((enum kvspace_kind)kind, body), found;
        works(kvspace_set(space, "/k", &value));
        works(kvspace_get(space, "/k", &found));
        assert_int_equal(kind, found.kind);
        assert_int_equal(KVSPACE_ATOM, found.store);
        assert_int_equal(bytes, found.body_bytes);
        assert_memory_equal(body, found.body, bytes);
        for (size_t i = bytes; i < 8; i++) assert_int_equal(0, found.scalar.bytes[i]);
        assert_ptr_equal(found.body, found.scalar.bytes);
        assert_true(kvspace_value_equal(&value, &found));
        type_is("/k", kvspace_kind_name(kind));
        /* the same by its type's text */
        struct kvspace_value named = {.type = kvspace_kind_name(kind), .body = body, .body_bytes = bytes};
        works(kvspace_set(space, "/k2", &named));
        works(kvspace_get(space, "/k2", &found));
        assert_true(kvspace_value_equal(&value, &found));
    }
    assert_int_equal(0, kvspace_kind_bytes(0));
    assert_int_equal(0, kvspace_kind_bytes(200));
    assert_string_equal("", kvspace_kind_name(200));
}

static void test_arrays(void **state) {
    (void)state;
    static const uint64_t dims[KVSPACE_NDIM_MAX] = {2, 3, 1, 2, 2, 1, 3, 2};
    static float body[144];
    for (size_t i = 0; i < 144; i++) body[i] = (float)i;
    uint64_t elements = 1;
    for (unsigned ndim = 1; ndim <= KVSPACE_NDIM_MAX; ndim++) {
        struct kvspace_value found, value = kvspace_value_array(KVSPACE_FLOAT32, ndim, dims, body);
        elements *= dims[ndim - 1];
        works(kvspace_set(space, "/n", &value));
        works(kvspace_get(space, "/n", &found));
        assert_int_equal(ndim, found.ndim);
        assert_memory_equal(dims, found.dims, ndim * 8);
        assert_int_equal(elements * 4, found.body_bytes);
        assert_memory_equal(body, found.body, elements * 4);
        if (found.body_bytes >= 64) assert_int_equal(0, (uintptr_t)found.body % 64);
        assert_int_equal(KVSPACE_NDARRAY, found.store);
    }
    type_is("/n", "[2,3,1,2,2,1,3,2]float32");
    struct kvspace_value typed = {.type = "[2,3]int8", .body = "abcdef", .body_bytes = 6}, found;
    works(kvspace_set(space, "/t", &typed));
    type_is("/t", "[2,3]int8");
    struct kvspace_value empty = kvspace_value_array(KVSPACE_INT64, 2, (const uint64_t[]){0, 5}, NULL);
    works(kvspace_set(space, "/e", &empty));
    works(kvspace_get(space, "/e", &found));
    assert_int_equal(0, found.body_bytes);
    assert_int_equal(5, found.dims[1]);
    type_is("/e", "[0,5]int64");
}

static void test_big_bodies(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 15, 16, 63, 64, 511, 512, 513, 4095, 32768, 32769, 100000, 5000000};
    unsigned char *body = malloc(5000000);
    assert_non_null(body);
    for (size_t i = 0; i < 5000000; i++) body[i] = (unsigned char)(i * 7 ^ i >> 8);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            struct kvspace_value found,
                value = {.kind = KVSPACE_UINT8, .ndim = 1, .body = body, .body_bytes = sizes[i]};
            works(kvspace_set(space, "/big", &value));
            works(kvspace_get(space, "/big", &found));
            assert_int_equal(sizes[i], found.body_bytes);
            assert_memory_equal(body, found.body, sizes[i]);
            if (sizes[i] >= 64) assert_int_equal(0, (uintptr_t)found.body % 64);
        }
    free(body);
}

static void test_refused(void **state) {
    (void)state;
    static const uint64_t huge[] = {UINT64_C(1) << 40, UINT64_C(1) << 40}, one[] = {3};
    const struct {
        int code;
        struct kvspace_value value;
    } rows[] = {
        {KVSPACE_ETYPE, {.kind = KVSPACE_KIND_COUNT}},
        {KVSPACE_ETYPE, {.kind = 255}},
        {KVSPACE_ELIMIT, {.kind = KVSPACE_INT8, .ndim = 9, .dims = huge, .body = "x"}},
        {KVSPACE_ELIMIT, {.kind = KVSPACE_INT8, .ndim = 2, .dims = huge, .body = "x"}},
        {KVSPACE_EVALUE, {.kind = KVSPACE_INT8, .ndim = 2, .body = "x"}},
        {KVSPACE_EVALUE, {.kind = KVSPACE_INT8, .ndim = 1, .dims = one}},
        {KVSPACE_EVALUE, {.kind = KVSPACE_INT8, .ndim = 1, .dims = one, .body = "xyzw", .body_bytes = 4}},
        {KVSPACE_EVALUE, {.kind = KVSPACE_INT32, .ndim = 1, .body = "xyzwv", .body_bytes = 5}},
        {KVSPACE_EVALUE, {.kind = KVSPACE_INT32, .body = "xyz", .body_bytes = 3}},
        {KVSPACE_ETYPE, {.type = "not a type!", .body = "x", .body_bytes = 1}},
        {KVSPACE_ETYPE, {.type = "int8|int16", .body = "x", .body_bytes = 1}},
        {KVSPACE_ETYPE, {.type = "[?,3]int8", .body = "xyz", .body_bytes = 3}},
        {KVSPACE_ETYPE, {.type = "*int8", .body = "xyz", .body_bytes = 3}},
        {KVSPACE_ETYPE, {.type = "\xff\xfe"}},
        {KVSPACE_EVALUE, {.type = "[2]int8", .body = "xyz", .body_bytes = 3}},
        {KVSPACE_EVALUE, {.type = MAP, .body = "xyz", .body_bytes = 3}},
        {KVSPACE_EVALUE, {.type = "opcode", .store = KVSPACE_ATOM, .body_bytes = 3}},
        {KVSPACE_EVALUE, {.ref = 3, .body = "/x", .body_bytes = 2}},
        {KVSPACE_EVALUE, {.ref = KVSPACE_POINTER}},
        {KVSPACE_EVALUE, {.ref = KVSPACE_POINTER, .body = "x", .body_bytes = 1}},
        {KVSPACE_EVALUE, {.ref = KVSPACE_POINTER, .body = "/x//y", .body_bytes = 5}},
        {KVSPACE_EVALUE, {.ref = KVSPACE_POINTER, .body = "/x\0y", .body_bytes = 4}},
        {KVSPACE_EVALUE, {.ref = KVSPACE_EXTERNAL}},
        {KVSPACE_EVALUE, {.store = KVSPACE_EXTINDEX, .type = MAP, .body = "nokey", .body_bytes = 5}},
    };
    works(kvspace_set_i64(space, "/r", 1));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int rc = kvspace_set(space, "/r", &rows[i].value);
        if (rc != rows[i].code)
            fail_msg("row %zu: %s instead of %s", i, kvspace_error_name(rc),
                     kvspace_error_name(rows[i].code));
        assert_true(strlen(kvspace_message(space)) > 0);
        holds_i64("/r", 1);
    }
    char *type = malloc(KVSPACE_TYPE_MAX + 10);
    assert_non_null(type);
    memset(type, 'a', KVSPACE_TYPE_MAX + 9);
    type[KVSPACE_TYPE_MAX + 9] = 0;
    gives(KVSPACE_ELIMIT, kvspace_set_word(space, "/r", type, "x", 1));
    free(type);
    gives(KVSPACE_EVALUE, kvspace_set_string(space, "/r", "\xff", 1));
    gives(KVSPACE_EKEY, kvspace_set_pointer(space, "/r", "nokey"));
    holds_i64("/r", 1);
}

static void test_words_and_pointers(void **state) {
    (void)state;
    struct kvspace_value value;
    char text[64], key[KVSPACE_KEY_MAX + 1];
    size_t bytes;
    works(kvspace_set_word(space, "/w", "opcode", "add", 3));
    type_is("/w", "opcode");
    holds_text("/w", "add");
    works(kvspace_set_word(space, "/w0", "rwfunc", NULL, 0));
    works(kvspace_get(space, "/w0", &value));
    assert_int_equal(0, value.body_bytes);
    works(kvspace_set_pointer(space, "/p", "/q" DOT "r"));
    type_is("/p", "*any");
    holds_text("/p", "/q" DOT "r");
    gives(KVSPACE_ENOENT, kvspace_get_followed(space, "/p", &value, key));
    works(kvspace_set_i64(space, "/q" DOT "r", 5));
    works(kvspace_get_followed(space, "/p", &value, key));
    assert_int_equal(5, value.scalar.i64);
    assert_ptr_equal(value.body, value.scalar.bytes);
    assert_string_equal("/q" DOT "r", key);
    works(kvspace_set_pointer(space, "/ring", "/ring2"));
    works(kvspace_set_pointer(space, "/ring2", "/ring"));
    gives(KVSPACE_ELIMIT, kvspace_get_followed(space, "/ring", &value, NULL));
    for (int i = 0; i < 33; i++) {
        char from[16], to[16];
        snprintf(from, sizeof from, "/h%d", i);
        snprintf(to, sizeof to, "/h%d", i + 1);
        works(kvspace_set_pointer(space, from, to));
    }
    works(kvspace_set_i64(space, "/h33", 8));
    works(kvspace_get_followed(space, "/h1", &value, NULL)); /* 32 hops */
    gives(KVSPACE_ELIMIT, kvspace_get_followed(space, "/h0", &value, NULL));
    value = kvspace_value_pointer("/q");
    value.type = "int64";
    works(kvspace_set(space, "/p2", &value));
    type_is("/p2", "*int64");
    struct kvspace_value external = {
        .ref = KVSPACE_EXTERNAL, .type = "float32", .body = "shm://tensor/7", .body_bytes = 14};
    external.ndim = 2;
    external.dims = (const uint64_t[]){4, 5};
    works(kvspace_set(space, "/x", &external));
    works(kvspace_get(space, "/x", &value));
    assert_int_equal(KVSPACE_EXTERNAL, value.ref);
    assert_int_equal(2, value.ndim);
    assert_int_equal(5, value.dims[1]);
    assert_true(kvspace_value_equal(&external, &value));
    works(kvspace_get_text(space, "/x", text, sizeof text, &bytes));
    assert_string_equal("shm://tensor/7", text);
    gives(KVSPACE_ELIMIT, kvspace_get_text(space, "/x", text, 14, &bytes));
    assert_int_equal(14, bytes);
    works(kvspace_get_text(space, "/x", text, 15, &bytes));
}

static void test_containers(void **state) {
    (void)state;
    struct kvspace_value value;
    works(kvspace_set_literal(space, "/m", "{a=1,b={c=2,d=[1,2,3]},e=\"x\"}", 29, NULL));
    prints("/m", "{a=1, b={c=2, d=[1, 2, 3]}, e=\"x\"}");
    holds_i64("/m" DOT "b" DOT "c", 2);
    works(kvspace_set_i64(space, "/m/child", 9));
    works(kvspace_set_i64(space, "/m" DOT "f", 6));
    works(kvspace_get(space, "/m", &value));
    assert_int_equal(KVSPACE_INDEX, value.store);
    works(kvspace_set(space, "/m", &value)); /* a container over a container: members stay */
    holds_i64("/m" DOT "f", 6);
    works(kvspace_mkindex(space, "/m", "[]char/utf8" DOT "int64"));
    type_is("/m", "[]char/utf8" DOT "int64");
    lists("/m", KVSPACE_LIST_ALL, "/child");
    works(kvspace_set_i64(space, "/m" DOT "g", 1));
    works(kvspace_set_i64(space, "/m", 3)); /* no container any more: members go, children stay */
    lists("/m", KVSPACE_LIST_ALL, "/child");
    works(kvspace_set_i64(space, "/m" DOT "g", 1)); /* members of what is no container: allowed, and stay */
    works(kvspace_set_i64(space, "/m", 4));
    lists("/m", KVSPACE_LIST_ALL, "/child " DOT "g");
    works(kvspace_set_literal(space, "/m", "Point{x=1.0}", 12, NULL));
    type_is("/m", "/lib/Point");
    lists("/m", KVSPACE_LIST_ALL, "/child " DOT "x");
    works(kvspace_set(space, "/m", NULL));
    lists("/m", KVSPACE_LIST_ALL, "/child");
    gives(KVSPACE_ETYPE, kvspace_mkindex(space, "/m", "int64"));
    gives(KVSPACE_ETYPE, kvspace_mkindex(space, "/m", "]["));
    gives(KVSPACE_ESYNTAX, kvspace_set_literal(space, "/m", "{a=1", 4, NULL));
    lists("/m", KVSPACE_LIST_ALL, "/child");
    lists("/", KVSPACE_LIST_ALL, "/sys /m"); /* no stage is left */
    works(kvspace_set_literal(space, "/m", "None", 4, NULL));
}

static void test_literal_words(void **state) {
    (void)state;
    static const char *const literals[] = {
        "opcode(add)", "param(x:int64)",   "rwfunc(2,1,0,7)", "name(abc)", "42",
        "int8(-3)",    "[1, 2, 3]",        "\"te\\\"xt\"",    "1.5",       "true",
        "{}",          "[[1, 2], [3, 4]]", "/n1" DOT "next"};
    struct kvspace_print_options options = {.style = KVSPACE_PRINT_LITERAL};
    char text[256];
    for (size_t i = 0; i < sizeof literals / sizeof literals[0]; i++) {
        works(kvspace_set_literal(space, "/l", literals[i], strlen(literals[i]), NULL));
        works(kvspace_print_text(space, "/l", &options, text, sizeof text, NULL));
        struct kvspace_value *one, two;
        works(kvspace_get_copy(space, "/l", &one));
        if (kvspace_set_literal(space, "/l2", text, strlen(text), NULL))
            fail_msg("%s prints as %s, which does not parse", literals[i], text);
        works(kvspace_get(space, "/l2", &two));
        if (!kvspace_value_equal(one, &two)) fail_msg("%s prints as %s, which is another", literals[i], text);
        kvspace_value_free(one);
    }
    gives(KVSPACE_ESYNTAX, kvspace_set_literal(space, "/l", "rwfunc(2,x)", 11, NULL));
    struct kvspace_problem problem = {0};
    gives(KVSPACE_ESYNTAX, kvspace_set_literal(space, "/l", "[1,2", 4, &problem));
    assert_true(strlen(problem.message) > 0);
    struct kvspace_value *value;
    assert_int_equal(KVSPACE_EUNSUPPORTED, kvspace_parse_literal("{a=1}", 5, &value, &problem));
    assert_int_equal(0, kvspace_parse_literal("[1,2]", 5, &value, &problem));
    assert_int_equal(2, value->dims[0]);
    kvspace_value_free(value);
}

static void test_read_section(void **state) {
    (void)state;
    enum { BYTES = 100000 };
    unsigned char *body = malloc(BYTES);
    struct kvspace_value lent[40], small;
    assert_non_null(body);
    gives(KVSPACE_EUSAGE, kvspace_read_end(space));
    works(kvspace_read_begin(space));
    works(kvspace_read_begin(space));
    for (unsigned i = 0; i < 40; i++) {
        memset(body, (int)i, BYTES);
        struct kvspace_value value = {.kind = KVSPACE_UINT8, .ndim = 1, .body = body, .body_bytes = BYTES};
        works(kvspace_set(space, "/big", &value));
        works(kvspace_get(space, "/big", &lent[i]));
        works(kvspace_set_text(space, "/small", "short"));
        works(kvspace_get(space, "/small", &small));
    }
    works(kvspace_read_end(space));
    works(kvspace_del(space, "/big"));
    works(kvspace_set_text(space, "/small", "other"));
    assert_memory_equal("short", small.body, 5);
    for (unsigned i = 0; i < 40; i++) {
        assert_int_equal(BYTES, lent[i].body_bytes);
        for (size_t at = 0; at < BYTES; at += 997)
            assert_int_equal(i, ((const unsigned char *)lent[i].body)[at]);
    }
    works(kvspace_read_end(space));
    gives(KVSPACE_EUSAGE, kvspace_read_end(space));
    struct kvspace_stats stats;
    for (int i = 0; i < 5; i++) works(kvspace_set_i64(space, "/tick", i));
    works(kvspace_get_stats(space, &stats));
    assert_true(stats.big_bytes + stats.retired * 100000 < 40 * BYTES);
    free(body);
}

static void test_write_and_fill(void **state) {
    (void)state;
    struct kvspace_value head = {.kind = KVSPACE_FLOAT64, .ndim = 2, .dims = (const uint64_t[]){100, 100}},
                         found;
    struct kvspace_write write, many[65];
    works(kvspace_write_begin(space, "/f/x", &head, &write));
    assert_int_equal(80000, write.body_bytes);
    assert_int_equal(0, (uintptr_t)write.body % 64);
    for (int i = 0; i < 10000; i++) ((double *)write.body)[i] = i;
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/f/x"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/f"));
    works(kvspace_write_publish(&write));
    works(kvspace_get(space, "/f/x", &found));
    assert_true(((const double *)found.body)[9999] == 9999);
    gives(KVSPACE_EUSAGE, kvspace_write_publish(&write));
    kvspace_write_cancel(&write);
    struct kvspace_value scalar = {.kind = KVSPACE_INT32};
    works(kvspace_write_begin(space, "/f/s", &scalar, &write));
    memcpy(write.body, &(int32_t){-5}, 4);
    works(kvspace_write_publish(&write));
    holds_i64("/f/s", -5);
    for (int i = 0; i < 64; i++) works(kvspace_write_begin(space, "/f/y", &head, &many[i]));
    gives(KVSPACE_ELIMIT, kvspace_write_begin(space, "/f/y", &head, &many[64]));
    for (int i = 0; i < 64; i++) kvspace_write_cancel(&many[i]);
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/f/y"));
    struct kvspace_value ro = kvspace_value_i64(1);
    ro.ro = 1;
    works(kvspace_set(space, "/ro", &ro));
    works(kvspace_write_begin(space, "/ro", &head, &write));
    gives(KVSPACE_EREADONLY, kvspace_write_publish(&write));
    gives(KVSPACE_EVALUE, kvspace_write_begin(space, "/x", &(struct kvspace_value){0}, &write));
    gives(KVSPACE_EKEY, kvspace_write_begin(space, "x", &head, &write));
    works(kvspace_write_begin(space, "/left/open", &head, &write)); /* close ends it */
    free(write.key);
}

static void test_set_body(void **state) {
    (void)state;
    struct kvspace_value value = kvspace_value_array(KVSPACE_INT16, 2, (const uint64_t[]){2, 2},
                                                     (const int16_t[]){1, 2, 3, 4}),
                         found;
    value.owner = 12;
    gives(KVSPACE_ENOENT, kvspace_set_body(space, "/b", "x", 1));
    works(kvspace_set(space, "/b", &value));
    works(kvspace_set_body(space, "/b", (const int16_t[]){5, 6, 7, 8}, 8));
    works(kvspace_get(space, "/b", &found));
    assert_int_equal(12, found.owner);
    assert_int_equal(2, found.ndim);
    assert_int_equal(8, ((const int16_t *)found.body)[3]);
    gives(KVSPACE_EVALUE, kvspace_set_body(space, "/b", "x", 1));
    works(kvspace_set_f64(space, "/f", 1));
    works(kvspace_set_body(space, "/f", &(double){2.5}, 8));
    double number;
    works(kvspace_get_f64(space, "/f", &number));
    assert_true(number == 2.5);
    works(kvspace_mkindex(space, "/c", MAP));
    gives(KVSPACE_EVALUE, kvspace_set_body(space, "/c", "", 0));
}

static void test_cas_and_incr(void **state) {
    (void)state;
    struct kvspace_value one = kvspace_value_i64(1), two = kvspace_value_i64(2),
                         text = kvspace_value_utf8("x", 1);
    int64_t sum;
    gives(KVSPACE_EMISMATCH, kvspace_cas(space, "/c/d", &one, &two));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/c"));
    works(kvspace_cas(space, "/c/d", NULL, &one));
    gives(KVSPACE_EMISMATCH, kvspace_cas(space, "/c/d", NULL, &two));
    gives(KVSPACE_EMISMATCH, kvspace_cas(space, "/c/d", &two, &one));
    works(kvspace_cas(space, "/c/d", &one, &text));
    works(kvspace_cas(space, "/c/d", &text, &two));
    holds_i64("/c/d", 2);
    works(kvspace_cas(space, "/c/d", &two, NULL));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/c"));
    works(kvspace_cas(space, "/c/d", NULL, NULL));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/c"));
    works(kvspace_mkindex(space, "/m", MAP));
    struct kvspace_value index = {.type = MAP};
    gives(KVSPACE_EVALUE, kvspace_cas(space, "/m", NULL, &index));
    gives(KVSPACE_EVALUE, kvspace_cas(space, "/m", &index, &one));
    works(kvspace_incr(space, "/i/j", 5, &sum));
    assert_int_equal(5, sum);
    works(kvspace_incr(space, "/i/j", -7, NULL));
    holds_i64("/i/j", -2);
    struct kvspace_value byte = kvspace_value_scalar(KVSPACE_INT8, &(int8_t){127});
    works(kvspace_set(space, "/i8", &byte));
    works(kvspace_incr(space, "/i8", 1, &sum));
    assert_true(sum == -128);
    holds_i64("/i8", -128);
    byte = kvspace_value_scalar(KVSPACE_UINT8, &(uint8_t){255});
    works(kvspace_set(space, "/u8", &byte));
    works(kvspace_incr(space, "/u8", 2, &sum));
    assert_int_equal(1, sum);
    works(kvspace_set_f64(space, "/f", 1));
    gives(KVSPACE_ETYPE, kvspace_incr(space, "/f", 1, &sum));
    works(kvspace_set_text(space, "/f", "text"));
    gives(KVSPACE_ETYPE, kvspace_incr(space, "/f", 1, &sum));
    works(kvspace_set_i64(space, "/max", INT64_MAX));
    works(kvspace_incr(space, "/max", 1, &sum));
    assert_true(sum == INT64_MIN);
}

static void test_version(void **state) {
    (void)state;
    struct kvspace_value value;
    uint64_t seen[8];
    unsigned count = 0;
    gives(KVSPACE_ENOENT, kvspace_get(space, "/v", &value));
    seen[count++] = value.version;
    works(kvspace_set_i64(space, "/v", 1));
    works(kvspace_get(space, "/v", &value));
    seen[count++] = value.version;
    works(kvspace_set_i64(space, "/v", 1));
    works(kvspace_get(space, "/v", &value));
    seen[count++] = value.version;
    works(kvspace_set_text(space, "/v", "text"));
    works(kvspace_get(space, "/v", &value));
    seen[count++] = value.version;
    works(kvspace_set_i64(space, "/v/child", 1));
    works(kvspace_get(space, "/v", &value));
    seen[count++] = value.version;
    works(kvspace_del(space, "/v"));
    works(kvspace_set_i64(space, "/v", 1));
    works(kvspace_get(space, "/v", &value));
    seen[count++] = value.version;
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < i; j++) assert_true(seen[i] != seen[j]);
}

static void test_clone_and_equal(void **state) {
    (void)state;
    struct kvspace_value *copy, *again;
    struct kvspace_value value =
        kvspace_value_array(KVSPACE_INT32, 2, (const uint64_t[]){2, 1}, (const int32_t[]){7, 8});
    assert_int_equal(0, kvspace_value_clone(&value, &copy));
    assert_true(kvspace_value_equal(&value, copy));
    assert_ptr_not_equal(copy->body, value.body);
    assert_int_equal(0, kvspace_value_clone(copy, &again));
    ((int32_t *)(uintptr_t)again->body)[1] = 9;
    assert_false(kvspace_value_equal(copy, again));
    kvspace_value_free(again);
    kvspace_value_free(copy);
    kvspace_value_free(NULL);
    struct kvspace_value number = kvspace_value_i64(5),
                         other = kvspace_value_scalar(KVSPACE_UINT64, &(uint64_t){5}), none = {0};
    assert_int_equal(0, kvspace_value_clone(&number, &copy));
    assert_ptr_equal(copy->body, copy->scalar.bytes);
    assert_int_equal(5, copy->scalar.i64);
    kvspace_value_free(copy);
    assert_false(kvspace_value_equal(&number, &other));
    assert_true(kvspace_value_equal(&none, &none));
    assert_false(kvspace_value_equal(&none, &number));
    struct kvspace_value one = kvspace_value_word("opcode", "add", 3),
                         two = kvspace_value_word("opcode", "adc", 3),
                         three = kvspace_value_word("name", "add", 3);
    assert_true(kvspace_value_equal(&one, &one));
    assert_false(kvspace_value_equal(&one, &two));
    assert_false(kvspace_value_equal(&one, &three));
    assert_int_equal(0, kvspace_value_clone(&none, &copy));
    assert_true(kvspace_value_equal(&none, copy));
    kvspace_value_free(copy);
}

static void test_heads(void **state) {
    (void)state;
    static const char *const literals[] = {"42",         "[1,2,3]", "\"text\"",    "opcode(add)",
                                           "/a" DOT "b", "true",    "float32(1.5)"};
    unsigned char bytes[8192];
    for (size_t i = 0; i < sizeof literals / sizeof literals[0]; i++) {
        struct kvspace_value value;
        struct kvspace_decoded decoded;
        size_t head, needed;
        works(kvspace_set_literal(space, "/h", literals[i], strlen(literals[i]), NULL));
        works(kvspace_get(space, "/h", &value));
        assert_int_equal(0, kvspace_head_encode(&value, bytes, sizeof bytes, &head));
        assert_int_equal(KVSPACE_ELIMIT, kvspace_head_encode(&value, bytes + 4096, head - 1, &needed));
        assert_int_equal(head, needed);
        memcpy(bytes + head, value.body, value.body_bytes);
        assert_int_equal(0, kvspace_head_decode(bytes, head + value.body_bytes, &decoded));
        assert_int_equal(head, decoded.head_bytes);
        assert_true(kvspace_value_equal(&value, &decoded.value));
        assert_int_equal(0, kvspace_head_decode(bytes, head, &decoded));
        if (value.body_bytes) assert_null(decoded.value.body);
        for (size_t cut = 0; cut < head; cut++)
            assert_int_not_equal(0, kvspace_head_decode(bytes, cut, &decoded));
        for (size_t bit = 0; bit < 8 * head;
             bit++) { /* every flipped bit is refused or decodes to something consistent */
            unsigned char damaged[512];
            memcpy(damaged, bytes, head);
            damaged[bit / 8] ^= (unsigned char)(1u << bit % 8);
            if (!kvspace_head_decode(damaged, head, &decoded)) assert_true(decoded.head_bytes <= head);
        }
    }
}

static void test_types(void **state) {
    (void)state;
    struct kvspace_problem problem;
    char text[64];
    int matches;
    assert_int_equal(0, kvspace_type_canonical("[ 2 , 3 ] float32", 17, text, sizeof text, NULL));
    assert_string_equal("[2,3]float32", text);
    assert_int_equal(KVSPACE_ELIMIT, kvspace_type_canonical("float32", 7, text, 7, NULL));
    assert_int_equal(KVSPACE_ETYPE, kvspace_type_canonical("[2", 2, text, sizeof text, &problem));
    assert_int_equal(0, kvspace_type_canonical("int8", 4, NULL, 0, NULL));
    assert_int_equal(0, kvspace_type_match("int64|float64", "int64", &matches));
    assert_int_equal(1, matches);
    assert_int_equal(0, kvspace_type_match("float64", "int64", &matches));
    assert_int_equal(0, matches);
    struct kvspace_value value = kvspace_value_i64(1);
    assert_int_equal(0, kvspace_value_match("int64", &value, &matches));
    assert_int_equal(1, matches);
    struct kvspace_value none = {0};
    assert_int_equal(4, kvspace_type_of(&none, text, 3));
    assert_string_equal("No", text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_scalar_kind, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_arrays, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_big_bodies, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_refused, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_words_and_pointers, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_containers, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_literal_words, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_read_section, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_write_and_fill, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_set_body, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_cas_and_incr, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_version, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_clone_and_equal, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_heads, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_types, open_space, close_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
