/* Listing: order of insertion, sorts of entries, beginning behind an entry, cursors over changes of any size,
 * long directories. Relies on space_fixture.h. Promises: what stays is shown exactly once, however much comes
 * and goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "space_fixture.h"

#define DOT    "\xc2\xb7"
#define SHADOW "\xe2\x80\xa5"

static void test_order(void **state) {
    (void)state;
    works(kvspace_set_i64(space, "/o/z", 1));
    works(kvspace_set_i64(space, "/o/a", 1));
    works(kvspace_set_i64(space, "/o/" SHADOW "s", 1));
    works(kvspace_set_i64(space, "/o/m", 1));
    works(kvspace_set_i64(space, "/o" DOT "y", 1));
    works(kvspace_set_i64(space, "/o" DOT "b", 1));
    lists("/o", KVSPACE_LIST_ALL, "/z /a /" SHADOW "s /m " DOT "y " DOT "b");
    works(kvspace_set_i64(space, "/o/a", 2)); /* setting again keeps the place */
    works(kvspace_del(space, "/o/z"));
    works(kvspace_set_i64(space, "/o/z", 2)); /* deleted and set again: at the end */
    lists("/o", KVSPACE_LIST_CHILDREN, "/a /m /z");
    lists("/o", KVSPACE_LIST_SYSTEM, "/" SHADOW "s");
    lists("/o", KVSPACE_LIST_MEMBERS, DOT "y " DOT "b");
}

static void test_entries(void **state) {
    (void)state;
    struct kvspace_list_options options = {.what = KVSPACE_LIST_ALL};
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    works(kvspace_set_i64(space, "/e/only", 1));
    works(kvspace_set_i64(space, "/e/dir/x", 1));
    works(kvspace_set_i64(space, "/e/obj" DOT "x", 1));
    works(kvspace_set_i64(space, "/e/obj/y", 1));
    works(kvspace_set_i64(space, "/e" DOT "m", 1));
    works(kvspace_list_open(space, "/e", &options, &cursor));
    works(kvspace_list_next(cursor, &entry));
    assert_string_equal("/only", entry.text);
    assert_string_equal("only", entry.name);
    assert_int_equal(5, entry.text_bytes);
    assert_int_equal(4, entry.name_bytes);
    assert_int_equal(KVSPACE_STEP_CHILD, entry.step);
    assert_true(entry.has_value && !entry.has_children && !entry.has_members);
    works(kvspace_list_next(cursor, &entry));
    assert_true(!entry.has_value && entry.has_children && !entry.has_members);
    works(kvspace_list_next(cursor, &entry));
    assert_true(!entry.has_value && entry.has_children && entry.has_members);
    works(kvspace_list_next(cursor, &entry));
    assert_string_equal(DOT "m", entry.text);
    assert_string_equal("m", entry.name);
    assert_int_equal(KVSPACE_STEP_MEMBER, entry.step);
    gives(KVSPACE_EEND, kvspace_list_next(cursor, &entry));
    gives(KVSPACE_EEND, kvspace_list_next(cursor, &entry));
    kvspace_list_close(cursor);
    kvspace_list_close(NULL);
    works(kvspace_list_open(space, "/e/only", NULL, &cursor)); /* nothing below: an empty list, no error */
    gives(KVSPACE_EEND, kvspace_list_next(cursor, &entry));
    kvspace_list_close(cursor);
}

static void test_after(void **state) {
    (void)state;
    char key[64];
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "/a/n%d", i);
        works(kvspace_set_i64(space, key, i));
    }
    struct kvspace_list_options options = {.after = "/n41"};
    works(kvspace_list_open(space, "/a", &options, &cursor));
    works(kvspace_list_next(cursor, &entry));
    assert_string_equal("n42", entry.name);
    kvspace_list_close(cursor);
    options.after = "/n99";
    works(kvspace_list_open(space, "/a", &options, &cursor));
    gives(KVSPACE_EEND, kvspace_list_next(cursor, &entry));
    kvspace_list_close(cursor);
    options.after = "/n100";
    gives(KVSPACE_ENOENT, kvspace_list_open(space, "/a", &options, &cursor));
    options.after = DOT "n1";
    gives(KVSPACE_ENOENT, kvspace_list_open(space, "/a", &options, &cursor));
}

/* Deletes what is listed, while it is listed. */
static void test_delete_while_listing(void **state) {
    (void)state;
    enum { MANY = 20000 };
    char key[300];
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    int shown = 0, rc;
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof key, "/d/n%d", i);
        works(kvspace_set_i64(space, key, i));
    }
    works(kvspace_set_i64(space, "/d", 1));
    works(kvspace_list_open(space, "/d", NULL, &cursor));
    while (!(rc = kvspace_list_next(cursor, &entry))) {
        snprintf(key, sizeof key, "n%d", shown++);
        assert_string_equal(key, entry.name);
        snprintf(key, sizeof key, "/d%s", entry.text);
        works(kvspace_del(space, key));
    }
    gives(KVSPACE_EEND, rc);
    assert_int_equal(MANY, shown);
    kvspace_list_close(cursor);
    lists("/d", KVSPACE_LIST_ALL, "");
}

/* Half stays, half comes and goes and forces the table to be built anew again and again, also at the same
 * place of memory. */
static void test_churn_while_listing(void **state) {
    (void)state;
    enum { STAY = 60 };
    for (int round = 0; round < 40; round++) {
        unsigned seen[STAY] = {0};
        char key[64];
        struct kvspace_entry entry;
        kvspace_cursor *cursor;
        int rc, number = 0, next = 0;
        for (int i = 0; i < STAY; i++) {
            snprintf(key, sizeof key, "/c/stay%d", i);
            works(kvspace_set_i64(space, key, i));
            snprintf(key, sizeof key, "/c/go%d", i);
            works(kvspace_set_i64(space, key, i));
        }
        works(kvspace_list_open(space, "/c", NULL, &cursor));
        while (!(rc = kvspace_list_next(cursor, &entry))) {
            if (sscanf(entry.name, "stay%d", &number) == 1) {
                seen[number]++;
                if (number != next) fail_msg("%d comes after %d", number, next - 1);
                next++;
            }
            for (int i = 0; i < round; i++) { /* rebuilds `round` times the table's size */
                snprintf(key, sizeof key, "/c/x%d", i);
                works(kvspace_set_i64(space, key, i));
                works(kvspace_del(space, key));
            }
            snprintf(key, sizeof key, "/c/go%d", (round * 7 + next * 3) % STAY);
            works(kvspace_del_tree(space, key, NULL));
        }
        gives(KVSPACE_EEND, rc);
        kvspace_list_close(cursor);
        for (int i = 0; i < STAY; i++) assert_int_equal(1, seen[i]);
        works(kvspace_del(space, "/c"));
    }
}

static void test_key_deleted_while_listing(void **state) {
    (void)state;
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    works(kvspace_set_i64(space, "/k/a", 1));
    works(kvspace_set_i64(space, "/k/b", 1));
    works(kvspace_list_open(space, "/k", NULL, &cursor));
    works(kvspace_list_next(cursor, &entry));
    works(kvspace_del(space, "/k"));
    works(kvspace_set_i64(space, "/k/c", 1)); /* another key of the same name */
    gives(KVSPACE_EEND, kvspace_list_next(cursor, &entry));
    kvspace_list_close(cursor);
}

static void test_many_cursors(void **state) {
    (void)state;
    struct kvspace_entry entry[2];
    kvspace_cursor *cursor[2];
    works(kvspace_set_i64(space, "/p/a", 1));
    works(kvspace_set_i64(space, "/p/b", 1));
    for (int i = 0; i < 2; i++) works(kvspace_list_open(space, "/p", NULL, &cursor[i]));
    for (int i = 0; i < 2; i++) works(kvspace_list_next(cursor[i], &entry[i]));
    assert_string_equal("a", entry[0].name); /* each has its own text */
    works(kvspace_list_next(cursor[1], &entry[1]));
    assert_string_equal("a", entry[0].name);
    assert_string_equal("b", entry[1].name);
    for (int i = 0; i < 2; i++) kvspace_list_close(cursor[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_entries, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_after, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_delete_while_listing, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_churn_while_listing, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_key_deleted_while_listing, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_many_cursors, open_space, close_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
