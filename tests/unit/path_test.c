/* Keys as text: what is well-formed, parents, joining, the ASCII form, hashing and splitting against a plain
 * model. Relies on path.h and the public functions on keys. Promises: no space is opened; random keys come
 * from a fixed seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kvspace/path.h"

#define DOT    "\xc2\xb7"
#define SHADOW "\xe2\x80\xa5"

static void test_check(void **state) {
    (void)state;
    static const char *const good[] = {"/",
                                       "/a",
                                       "/a" DOT "b",
                                       "/a/" SHADOW "pc",
                                       "/vthread/7/[3,0]/[1,0]",
                                       "/\xe6\x9c\xa8",
                                       "/..",
                                       "/...x",
                                       "/a b",
                                       "/m" DOT "[1,2]",
                                       "/a" SHADOW "b",
                                       "/a" DOT SHADOW "b",
                                       "/\xf4\x8f\xbf\xbf"};
    static const struct {
        const char *key;
        size_t position;
    } bad[] = {{"", 0},
               {"a", 0},
               {"/a/", 2},
               {"//", 0},
               {"/a" DOT, 2},
               {"/" SHADOW, 0},
               {"/a\x1f", 0},
               {"/a\xc2\x80", 0},
               {"/\xf4\x90\x80\x80", 0},
               {"/ok/\xed\xbf\xbf", 3}};
    struct kvspace_problem problem;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (kvspace_key_check(good[i], &problem)) fail_msg("%s: %s", good[i], problem.message);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        problem.position = 99;
        assert_int_equal(KVSPACE_EKEY, kvspace_key_check(bad[i].key, &problem));
        assert_int_equal(bad[i].position, problem.position);
        assert_true(problem.message[0]);
        assert_int_equal(KVSPACE_EKEY, kvspace_key_check(bad[i].key, NULL));
    }
    assert_int_equal(KVSPACE_EKEY, kvspace_key_check(NULL, &problem));
}

static void test_parent(void **state) {
    (void)state;
    assert_int_equal(0, kvspace_key_parent("/"));
    assert_int_equal(1, kvspace_key_parent("/x"));
    assert_int_equal(2, kvspace_key_parent("/x/y"));
    assert_int_equal(2, kvspace_key_parent("/x" DOT "y"));
    assert_int_equal(6, kvspace_key_parent("/x" DOT "yz/" SHADOW "w"));
}

static void test_join(void **state) {
    (void)state;
    char out[KVSPACE_KEY_MAX + 1], key[KVSPACE_KEY_MAX + 1];
    assert_int_equal(0, kvspace_key_join("/", KVSPACE_STEP_CHILD, "a", out));
    assert_string_equal("/a", out);
    assert_int_equal(0, kvspace_key_join("/a", KVSPACE_STEP_MEMBER, "b", out));
    assert_string_equal("/a" DOT "b", out);
    assert_int_equal(0, kvspace_key_join("/a", KVSPACE_STEP_SYSTEM, SHADOW "pc", out));
    assert_string_equal("/a/" SHADOW "pc", out);
    assert_int_equal(KVSPACE_EKEY, kvspace_key_join("/a", KVSPACE_STEP_CHILD, "b/c", out));
    assert_int_equal(KVSPACE_EKEY, kvspace_key_join("/a", KVSPACE_STEP_CHILD, "", out));
    assert_int_equal(KVSPACE_EKEY, kvspace_key_join("/a", KVSPACE_STEP_MEMBER, "b" DOT "c", out));
    assert_int_equal(KVSPACE_EKEY, kvspace_key_join("/", KVSPACE_STEP_MEMBER, "b", out));
    for (size_t i = 0; i < 4094; i += 2) memcpy(key + i, "/d", 2);
    key[4094] = 0;
    assert_int_equal(0, kvspace_key_join(key, KVSPACE_STEP_CHILD, "x", out));
    assert_int_equal(KVSPACE_KEY_MAX, strlen(out));
    assert_int_equal(KVSPACE_ELIMIT, kvspace_key_join(key, KVSPACE_STEP_CHILD, "xy", out));
    assert_int_equal(KVSPACE_ELIMIT, kvspace_key_join(key, KVSPACE_STEP_MEMBER, "x", out));
}

static void test_ascii(void **state) {
    (void)state;
    static const struct {
        const char *text, *key;
    } rows[] = {{"/a.b", "/a" DOT "b"},
                {"/vthread/7/..pc", "/vthread/7/" SHADOW "pc"},
                {"/a.b.c/..d.e", "/a" DOT "b" DOT "c/" SHADOW "d" DOT "e"},
                {"/", "/"},
                {"/.x", "/.x"},
                {"/a" DOT "b", "/a" DOT "b"}};
    char out[KVSPACE_KEY_MAX + 1];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(0, kvspace_key_from_ascii(rows[i].text, out));
        assert_string_equal(rows[i].key, out);
    }
    assert_int_equal(KVSPACE_EKEY, kvspace_key_from_ascii("/a..b", out));
    assert_int_equal(KVSPACE_EKEY, kvspace_key_from_ascii("/a.", out));
    assert_int_equal(KVSPACE_EKEY, kvspace_key_from_ascii("a", out));
    static char lengthy[2 * KVSPACE_KEY_MAX];
    for (size_t i = 0; i + 2 < sizeof lengthy; i += 2) memcpy(lengthy + i, i ? ".d" : "/d", 2);
    assert_int_equal(KVSPACE_ELIMIT, kvspace_key_from_ascii(lengthy, out));
}

static void test_within(void **state) {
    (void)state;
    assert_true(path_is_within("/a/b", "/a"));
    assert_true(path_is_within("/a" DOT "b", "/a"));
    assert_true(path_is_within("/a", "/a"));
    assert_true(path_is_within("/a", "/"));
    assert_false(path_is_within("/ab", "/a"));
    assert_false(path_is_within("/a", "/a/b"));
    assert_false(path_is_within("/b/a", "/a"));
}

/* Every key that is built of sound steps splits into just these. */
static void test_split(void **state) {
    (void)state;
    static const char *const names[] = {"a",
                                        "bb",
                                        "[1,0]",
                                        "\xe6\x9c\xa8",
                                        "123456789",
                                        "a name with blanks and more",
                                        "\xf0\x9f\x8c\xb3",
                                        ("x" SHADOW)};
    uint32_t random = 12345;
    for (int round = 0; round < 20000; round++) {
        char key[512] = "";
        unsigned step[12], kind[12], count = 1 + (random = random * 1664525 + 1013904223) % 12;
        for (unsigned i = 0; i < count; i++) {
            random = random * 1664525 + 1013904223;
            step[i] = random >> 8 & 7;
            kind[i] = i ? (random >> 16) % 3 : 0;
            strcat(key, kind[i] == 0 ? "/" : kind[i] == 1 ? DOT : "/" SHADOW);
            strcat(key, names[step[i]]);
        }
        const char *at = path_begin(key);
        for (unsigned i = 0; i < count; i++) {
            struct path_step found;
            at = path_next(at, &found, NULL);
            assert_non_null(at);
            size_t front = kind[i] == 2 ? 3 : 0;
            assert_int_equal(strlen(names[step[i]]) + front, found.bytes);
            assert_memory_equal(names[step[i]], found.name + front, strlen(names[step[i]]));
            assert_int_equal(kind[i] == 0   ? KVSPACE_STEP_CHILD
                             : kind[i] == 1 ? KVSPACE_STEP_MEMBER
                                            : KVSPACE_STEP_SYSTEM,
                             found.kind);
            assert_int_equal(path_hash(found.name, found.bytes, kind[i] == 1), found.hash);
            assert_true(path_name_is_valid((enum kvspace_step)found.kind, found.name, found.bytes));
        }
        assert_int_equal(0, *at);
    }
}

/* Numbered names, which people use most, spread: no bucket of 2^16 gets more than a few of 2^16 names. */
static void test_hash_spreads(void **state) {
    (void)state;
    static unsigned char bucket[1 << 16];
    static const char *const forms[] = {"%u", "c%u", "key-%08u", "[%u,0]",
                                        "a longer name of a key, number %u"};
    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++)
        for (unsigned shift = 0; shift <= 16; shift += 16) {
            unsigned most = 0;
            memset(bucket, 0, sizeof bucket);
            for (unsigned i = 0; i < 1 << 16; i++) {
                char name[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                int bytes = snprintf(name, sizeof name, forms[form], i);
#pragma GCC diagnostic pop
                unsigned at = path_hash(name, (size_t)bytes, false) >> shift & 0xffff;
                if (++bucket[at] > most) most = bucket[at];
            }
            if (most > 12) fail_msg("%s: %u names in one bucket", forms[form], most);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),        cmocka_unit_test(test_parent), cmocka_unit_test(test_join),
        cmocka_unit_test(test_ascii),        cmocka_unit_test(test_within), cmocka_unit_test(test_split),
        cmocka_unit_test(test_hash_spreads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
