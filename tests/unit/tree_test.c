/* Keys of the tree with their values: setting, getting, existence, deleting, pruning, read-only, owners, many
 * children, deep and huge keys, reopening. Relies on space_fixture.h. Promises: every test has a space of its
 * own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "space_fixture.h"

#define DOT    "\xc2\xb7"
#define SHADOW "\xe2\x80\xa5"

static void test_set_get(void **state) {
    (void)state;
    struct kvspace_value value;
    double f64;
    uint64_t u64;
    int truth;
    works(kvspace_set_i64(space, "/a", 42));
    holds_i64("/a", 42);
    works(kvspace_set_i64(space, "/a", -43));
    holds_i64("/a", -43);
    works(kvspace_set_f64(space, "/a/b", 2.5));
    works(kvspace_get_f64(space, "/a/b", &f64));
    assert_true(f64 == 2.5);
    works(kvspace_set_u64(space, "/a" DOT "m", UINT64_MAX));
    works(kvspace_get_u64(space, "/a" DOT "m", &u64));
    assert_true(u64 == UINT64_MAX);
    works(kvspace_set_bool(space, "/a/" SHADOW "s", 1));
    works(kvspace_get_bool(space, "/a/" SHADOW "s", &truth));
    assert_int_equal(1, truth);
    works(kvspace_set_text(space, "/t",
                           "gr\xc3\xbc\xc3\x9f"
                           "e"));
    holds_text("/t", "gr\xc3\xbc\xc3\x9f"
                     "e");
    works(kvspace_set_string(space, "/s", "\xf0\x9f\x8c\xb3!", 5));
    holds_text("/s", "\xf0\x9f\x8c\xb3!");
    works(kvspace_get(space, "/s", &value));
    assert_int_equal(8, value.body_bytes);
    assert_int_equal(KVSPACE_CHAR_UTF32, value.kind);
    gives(KVSPACE_ENOENT, kvspace_get(space, "/none", &value));
    gives(KVSPACE_ENOENT, kvspace_get(space, "/a/none/none", &value));
    assert_non_null(strstr(kvspace_message(space), "/a/none/none"));
    gives(KVSPACE_ETYPE, kvspace_get_i64(space, "/t", &(int64_t){0}));
    gives(KVSPACE_ETYPE, kvspace_get_bool(space, "/a", &truth));
    works(kvspace_get_f64(space, "/a", &f64));
    assert_true(f64 == -43.0);
    gives(KVSPACE_ETYPE, kvspace_get_u64(space, "/a", &u64));
    gives(KVSPACE_ETYPE, kvspace_get_i64(space, "/a" DOT "m", &(int64_t){0}));
    lists("/a", KVSPACE_LIST_ALL, "/b /" SHADOW "s " DOT "m");
    lists("/a", KVSPACE_LIST_CHILDREN, "/b");
    lists("/a", KVSPACE_LIST_SYSTEM, "/" SHADOW "s");
    lists("/a", KVSPACE_LIST_MEMBERS, DOT "m");
}

static void test_steps_do_not_mix(void **state) {
    (void)state;
    works(kvspace_set_i64(space, "/x/n", 1));
    works(kvspace_set_i64(space, "/x" DOT "n", 2));
    works(kvspace_set_i64(space, "/x/" SHADOW "n", 3));
    works(kvspace_set_i64(space, "/x", 4));
    holds_i64("/x/n", 1);
    holds_i64("/x" DOT "n", 2);
    holds_i64("/x/" SHADOW "n", 3);
    holds_i64("/x", 4);
    works(kvspace_del(space, "/x/n"));
    holds_i64("/x" DOT "n", 2);
    holds_i64("/x/" SHADOW "n", 3);
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/x/n"));
}

static void test_exists_and_count(void **state) {
    (void)state;
    struct kvspace_counts counts;
    works(kvspace_exists(space, "/"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/d"));
    works(kvspace_set_i64(space, "/d/e/f", 1));
    works(kvspace_exists(space, "/d"));
    works(kvspace_exists(space, "/d/e"));
    works(kvspace_set_i64(space, "/d" DOT "p", 1));
    works(kvspace_set_i64(space, "/d" DOT "q", 1));
    works(kvspace_set_i64(space, "/d/" SHADOW "v", 1));
    works(kvspace_count(space, "/d", &counts));
    assert_int_equal(1, counts.children);
    assert_int_equal(2, counts.members);
    assert_int_equal(1, counts.system);
    assert_int_equal(0, counts.has_value);
    works(kvspace_set_i64(space, "/d", 1));
    works(kvspace_count(space, "/d", &counts));
    assert_int_equal(1, counts.has_value);
    gives(KVSPACE_ENOENT, kvspace_count(space, "/no", &counts));
}

static void test_none_and_prune(void **state) {
    (void)state;
    struct kvspace_value none = {0};
    kvspace_cursor *cursor;
    works(kvspace_set_i64(space, "/p/q/r", 1));
    works(kvspace_set(space, "/p/q/r", NULL));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/p/q/r"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/p/q"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/p"));
    works(kvspace_set(space, "/p/q/r", &none)); /* nothing there is no error, and makes nothing */
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/p"));
    works(kvspace_set_i64(space, "/p/q", 1));
    works(kvspace_set_i64(space, "/p/q/r", 2));
    works(kvspace_set(space, "/p/q", NULL));
    gives(KVSPACE_ENOENT, kvspace_get(space, "/p/q", &none));
    works(kvspace_exists(space, "/p/q"));
    holds_i64("/p/q/r", 2);
    works(kvspace_del(space, "/p/q/r"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/p"));
    gives(KVSPACE_ENOENT, kvspace_list_open(space, "/p", NULL, &cursor));
    gives(KVSPACE_ENOENT, kvspace_del(space, "/p"));
    lists("/", KVSPACE_LIST_ALL, "/sys");
}

static void test_delete(void **state) {
    (void)state;
    uint64_t deleted = 99;
    for (int i = 0; i < 50; i++) {
        char key[64];
        snprintf(key, sizeof key, "/t/%d/x", i);
        works(kvspace_set_i64(space, key, i));
        snprintf(key, sizeof key, "/t/%d" DOT "y", i);
        works(kvspace_set_text(space, key, "a text that is longer than a cell"));
    }
    works(kvspace_set_i64(space, "/t", 7));
    works(kvspace_del_tree(space, "/t", &deleted));
    assert_int_equal(101, deleted);
    works(kvspace_del_tree(space, "/t", &deleted));
    assert_int_equal(0, deleted);
    gives(KVSPACE_ENOENT, kvspace_del(space, "/t"));
    works(kvspace_set_i64(space, "/u", 1));
    works(kvspace_set_i64(space, "/v/w", 1));
    works(kvspace_del_tree(space, "/", &deleted));
    assert_int_equal(2, deleted);
    lists("/", KVSPACE_LIST_ALL, "/sys");
    gives(KVSPACE_EREADONLY, kvspace_del(space, "/sys"));
    gives(KVSPACE_EREADONLY, kvspace_set_i64(space, "/sys", 1));
    gives(KVSPACE_EREADONLY, kvspace_set(space, "/sys", NULL));
}

static void test_root_has_a_value(void **state) {
    (void)state;
    works(kvspace_set_i64(space, "/", 5));
    holds_i64("/", 5);
    works(kvspace_set(space, "/", NULL));
    gives(KVSPACE_ENOENT, kvspace_get_i64(space, "/", &(int64_t){0}));
    works(kvspace_exists(space, "/"));
}

static void test_read_only(void **state) {
    (void)state;
    struct kvspace_value value = kvspace_value_i64(3);
    value.ro = 1;
    works(kvspace_set(space, "/r", &value));
    gives(KVSPACE_EREADONLY, kvspace_set_i64(space, "/r", 4));
    gives(KVSPACE_EREADONLY, kvspace_set(space, "/r", NULL));
    gives(KVSPACE_EREADONLY, kvspace_incr(space, "/r", 1, NULL));
    gives(KVSPACE_EREADONLY, kvspace_cas(space, "/r", &value, NULL));
    gives(KVSPACE_EREADONLY, kvspace_set_body(space, "/r", "12345678", 8));
    works(kvspace_get(space, "/r", &value));
    assert_int_equal(1, value.ro);
    holds_i64("/r", 3);
    works(kvspace_set_i64(space, "/r/below", 1));
    works(kvspace_del(space, "/r"));
    works(kvspace_set_i64(space, "/r", 4));

    struct kvspace_open_options options = {.access = KVSPACE_READ_ONLY};
    kvspace *reader;
    int64_t number;
    works(kvspace_open_with(fixture_dsn, &options, &reader));
    assert_int_equal(0, kvspace_get_i64(reader, "/r", &number));
    assert_int_equal(KVSPACE_EREADONLY, kvspace_set_i64(reader, "/r", 1));
    assert_int_equal(KVSPACE_EREADONLY, kvspace_del(reader, "/r"));
    assert_int_equal(KVSPACE_EREADONLY, kvspace_del_tree(reader, "/", NULL));
    assert_int_equal(KVSPACE_EREADONLY, kvspace_incr(reader, "/r", 1, NULL));
    assert_int_equal(KVSPACE_EREADONLY, kvspace_cp(reader, "/r", "/s"));
    assert_int_equal(KVSPACE_EREADONLY, kvspace_cp_tree(reader, "/r", "/s"));
    assert_int_equal(KVSPACE_EREADONLY, kvspace_replace(reader, "/r", "/s", NULL));
    assert_int_equal(KVSPACE_EREADONLY, kvspace_mkindex(reader, "/m", "[]char/utf8" DOT "any"));
    assert_int_equal(KVSPACE_EREADONLY, kvspace_set_literal(reader, "/m", "{a=1}", 5, NULL));
    assert_int_equal(KVSPACE_EREADONLY, kvspace_set_literal(reader, "/m", "1", 1, NULL));
    assert_int_equal(KVSPACE_EREADONLY, kvspace_notify(reader, "/r"));
    struct kvspace_slot slot;
    assert_int_equal(0, kvspace_slot_open(reader, "/r", KVSPACE_SLOT_EXISTING, &slot));
    assert_int_equal(KVSPACE_EREADONLY, kvspace_slot_set_i64(&slot, 9));
    kvspace_close(reader);
    holds_i64("/r", 4);
}

static void test_owner(void **state) {
    (void)state;
    struct kvspace_value value = kvspace_value_i64(1);
    kvspace_set_owner(space, 77);
    assert_int_equal(77, kvspace_owner(space));
    works(kvspace_set_i64(space, "/o", 1));
    works(kvspace_get(space, "/o", &value));
    assert_int_equal(77, value.owner);
    value.owner = 5;
    works(kvspace_set(space, "/o", &value));
    works(kvspace_get(space, "/o", &value));
    assert_int_equal(5, value.owner);
    works(kvspace_set_text(space, "/o", "some text"));
    works(kvspace_get(space, "/o", &value));
    assert_int_equal(77, value.owner);
}

static void test_bad_keys(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",      "a",      "/a/",   "//",     "/a//b",    "/a" DOT, DOT "a",         "/" DOT "a/b" DOT DOT,
        "/\x01", "/a\x7f", "/\xff", "/a\xc2", "/" SHADOW, "/a\n",   "/\xed\xa0\x80", "/\xc0\x80"};
    struct kvspace_value value;
    struct kvspace_slot slot;
    kvspace_cursor *cursor;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        gives(KVSPACE_EKEY, kvspace_get(space, bad[i], &value));
        gives(KVSPACE_EKEY, kvspace_set_i64(space, bad[i], 1));
        gives(KVSPACE_EKEY, kvspace_del(space, bad[i]));
        gives(KVSPACE_EKEY, kvspace_del_tree(space, bad[i], NULL));
        gives(KVSPACE_EKEY, kvspace_exists(space, bad[i]));
        gives(KVSPACE_EKEY, kvspace_list_open(space, bad[i], NULL, &cursor));
        gives(KVSPACE_EKEY, kvspace_incr(space, bad[i], 1, NULL));
        gives(KVSPACE_EKEY, kvspace_cas(space, bad[i], NULL, NULL));
        gives(KVSPACE_EKEY, kvspace_cp(space, bad[i], "/to"));
        gives(KVSPACE_EKEY, kvspace_cp(space, "/to", bad[i]));
        gives(KVSPACE_EKEY, kvspace_cp_tree(space, bad[i], "/to"));
        gives(KVSPACE_EKEY, kvspace_replace(space, bad[i], "/to", NULL));
        gives(KVSPACE_EKEY, kvspace_replace(space, "/to", bad[i], NULL));
        gives(KVSPACE_EKEY, kvspace_slot_open(space, bad[i], KVSPACE_SLOT_CREATE, &slot));
        gives(KVSPACE_EKEY, kvspace_mkindex(space, bad[i], "[]char/utf8" DOT "any"));
        gives(KVSPACE_EKEY, kvspace_set_literal(space, bad[i], "{a=1}", 5, NULL));
        gives(KVSPACE_EKEY, kvspace_set_literal(space, bad[i], "1", 1, NULL));
        gives(KVSPACE_EKEY, kvspace_set(space, bad[i], NULL));
        gives(KVSPACE_EKEY, kvspace_watch(space, bad[i], NULL, NULL));
        gives(KVSPACE_EKEY, kvspace_notify(space, bad[i]));
        assert_true(strlen(kvspace_message(space)) > 0);
    }
    lists("/", KVSPACE_LIST_ALL, "/sys");
}

static void test_huge_keys(void **state) {
    (void)state;
    static char key[KVSPACE_KEY_MAX + 3];
    char step[KVSPACE_STEP_MAX + 3] = "/";
    memset(step + 1, 'n', KVSPACE_STEP_MAX);
    step[KVSPACE_STEP_MAX + 1] = 0;
    works(kvspace_set_i64(space, step, 1));
    holds_i64(step, 1);
    step[KVSPACE_STEP_MAX + 1] = 'n';
    step[KVSPACE_STEP_MAX + 2] = 0;
    gives(KVSPACE_EKEY, kvspace_set_i64(space, step, 1));
    for (size_t i = 0; i < KVSPACE_KEY_MAX; i += 2) memcpy(key + i, "/d", 2); /* 2,048 steps */
    works(kvspace_set_i64(space, key, 2));
    holds_i64(key, 2);
    key[KVSPACE_KEY_MAX] = 'd';
    gives(KVSPACE_EKEY, kvspace_set_i64(space, key, 2));
    gives(KVSPACE_EKEY, kvspace_get_i64(space, key, &(int64_t){0}));
    key[KVSPACE_KEY_MAX] = 0;
    works(kvspace_del(space, key));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/d")); /* all of them pruned */
    works(kvspace_set_i64(space, key, 2));
    works(kvspace_del(space, "/d"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, key));
}

static void test_unicode(void **state) {
    (void)state;
    static const char *const names[] = {
        "/\xe6\x9c\xa8", "/\xf0\x9f\x8c\xb3", "/a b",      "/..", "/.", "/[3,0]",
        "/\xcc\x81",     "/e\xcc\x81",        "/\xc3\xa9", "/A",  "/a"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        works(kvspace_set_i64(space, names[i], (int64_t)i));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        holds_i64(names[i], (int64_t)i); /* no normalization */
}

static void test_many_children(void **state) {
    (void)state;
    enum { MANY = 100000 };
    char key[64];
    struct kvspace_counts counts;
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof key, "/many/c%d", i);
        works(kvspace_set_i64(space, key, i));
    }
    for (int i = 0; i < MANY; i += 7) {
        snprintf(key, sizeof key, "/many/c%d", i);
        holds_i64(key, i);
    }
    for (int i = 0; i < MANY; i++) {
        if (i % 3 == 0) continue;
        snprintf(key, sizeof key, "/many/c%d", i);
        works(kvspace_del(space, key));
    }
    works(kvspace_count(space, "/many", &counts));
    assert_int_equal((MANY + 2) / 3, counts.children);
    works(kvspace_list_open(space, "/many", NULL, &cursor));
    for (int i = 0; i < MANY; i += 3) {
        works(kvspace_list_next(cursor, &entry));
        snprintf(key, sizeof key, "c%d", i);
        assert_string_equal(key, entry.name);
    }
    gives(KVSPACE_EEND, kvspace_list_next(cursor, &entry));
    kvspace_list_close(cursor);
    uint64_t deleted;
    works(kvspace_del_tree(space, "/many", &deleted));
    assert_int_equal((MANY + 2) / 3, deleted);
}

static void test_reopen(void **state) {
    (void)state;
    works(kvspace_set_i64(space, "/k/a", 1));
    works(kvspace_set_text(space, "/k/b", "text"));
    works(kvspace_set_literal(space, "/k/c", "{x=1,y={z=\"deep\"}}", 18, NULL));
    reopen_space();
    holds_i64("/k/a", 1);
    holds_text("/k/b", "text");
    prints("/k/c", "{x=1, y={z=\"deep\"}}");
    lists("/k", KVSPACE_LIST_CHILDREN, "/a /b /c");
    assert_string_equal(fixture_dsn, kvspace_dsn(space));
    assert_string_equal("shm", kvspace_backend(space));
    assert_string_equal(fixture_dsn + 4, kvspace_file(space));
}

/* Memory that is freed is used again: 100,000 rounds do not grow the file. */
static void test_no_leak(void **state) {
    (void)state;
    struct kvspace_stats first, last;
    char text[2000];
    for (int round = 0; round < 20000; round++) {
        memset(text, 'a' + round % 26, sizeof text);
        text[100 + round % 1800] = 0;
        works(kvspace_set_text(space, "/leak/x", text));
        works(kvspace_set_i64(space, "/leak/y/z", round));
        if (round % 3 == 0) works(kvspace_del(space, "/leak"));
        if (round == 2000) works(kvspace_get_stats(space, &first));
    }
    works(kvspace_get_stats(space, &last));
    if (last.used_bytes > first.used_bytes + 300000)
        fail_msg("%llu bytes became %llu", (unsigned long long)first.used_bytes,
                 (unsigned long long)last.used_bytes);
    assert_true(last.file_bytes <= first.file_bytes + (1 << 20));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_set_get, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_steps_do_not_mix, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_exists_and_count, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_none_and_prune, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_delete, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_root_has_a_value, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_read_only, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_owner, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_bad_keys, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_huge_keys, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_unicode, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_many_children, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_reopen, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_no_leak, open_space, close_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
