/* Slots: opening, making, scalars and others, the end of their keys, moves, other processes that write and
 * delete meanwhile. Relies on space_fixture.h. Promises: a slot never reads what is not its key's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "space_fixture.h"

#include <sys/wait.h>

#define DOT "\xc2\xb7"

static void test_basic(void **state) {
    (void)state;
    struct kvspace_slot slot, none;
    struct kvspace_value value;
    int64_t number;
    double f64;
    gives(KVSPACE_ENOENT, kvspace_slot_open(space, "/s", KVSPACE_SLOT_EXISTING, &none));
    works(kvspace_slot_open(space, "/s/t", KVSPACE_SLOT_CREATE, &slot));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/s/t")); /* without a value, it does not show */
    gives(KVSPACE_ENOENT, kvspace_slot_get(&slot, &value));
    gives(KVSPACE_ENOENT, kvspace_slot_get_i64(&slot, &number));
    works(kvspace_slot_set_i64(&slot, 7));
    holds_i64("/s/t", 7);
    works(kvspace_slot_get_i64(&slot, &number));
    assert_int_equal(7, number);
    gives(KVSPACE_ETYPE, kvspace_slot_get_f64(&slot, &f64));
    works(kvspace_slot_set_f64(&slot, 2.5));
    works(kvspace_slot_get_f64(&slot, &f64));
    assert_true(f64 == 2.5);
    gives(KVSPACE_ETYPE, kvspace_slot_get_i64(&slot, &number));
    gives(KVSPACE_ETYPE, kvspace_slot_incr(&slot, 1, &number));
    works(kvspace_set_i64(space, "/s/t", 8)); /* by key */
    works(kvspace_slot_get_i64(&slot, &number));
    assert_int_equal(8, number);
    works(kvspace_slot_incr(&slot, -10, &number));
    assert_int_equal(-2, number);
    struct kvspace_value text = kvspace_value_utf8("a text", 6);
    works(kvspace_slot_set(&slot, &text));
    holds_text("/s/t", "a text");
    works(kvspace_slot_get(&slot, &value));
    assert_memory_equal("a text", value.body, 6);
    gives(KVSPACE_EVALUE,
          kvspace_slot_set(&slot, &(struct kvspace_value){
                                      .kind = KVSPACE_INT8, .ndim = 1, .dims = (const uint64_t[]){3}}));
    holds_text("/s/t", "a text");
    struct kvspace_value none_value = {0};
    works(kvspace_slot_set(&slot, &none_value));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/s/t"));
    works(kvspace_slot_set_i64(&slot, 9)); /* still its key */
    holds_i64("/s/t", 9);
    kvspace_slot_close(&slot);
    gives(KVSPACE_EUSAGE, kvspace_slot_get_i64(&slot, &number));
}

static void test_gone(void **state) {
    (void)state;
    struct kvspace_slot slot, again;
    struct kvspace_value value = kvspace_value_i64(1);
    int64_t number;
    double f64;
    works(kvspace_set_i64(space, "/g/a", 1));
    works(kvspace_slot_open(space, "/g/a", KVSPACE_SLOT_EXISTING, &slot));
    works(kvspace_del(space, "/g"));
    for (int round = 0; round < 2; round++) {
        gives(KVSPACE_EGONE, kvspace_slot_get_i64(&slot, &number));
        gives(KVSPACE_EGONE, kvspace_slot_get_f64(&slot, &f64));
        gives(KVSPACE_EGONE, kvspace_slot_set_i64(&slot, 2));
        gives(KVSPACE_EGONE, kvspace_slot_set_f64(&slot, 2));
        gives(KVSPACE_EGONE, kvspace_slot_set(&slot, &value));
        gives(KVSPACE_EGONE, kvspace_slot_get(&slot, &value));
        gives(KVSPACE_EGONE, kvspace_slot_incr(&slot, 1, &number));
        for (int i = 0; i < 500; i++) { /* the same name, and most likely the same memory */
            char key[32];
            snprintf(key, sizeof key, "/g/%d", i);
            works(kvspace_set_i64(space, key, i));
        }
        works(kvspace_set_i64(space, "/g/a", 3));
    }
    holds_i64("/g/a", 3);
    works(kvspace_slot_open(space, "/g/a", KVSPACE_SLOT_EXISTING, &again));
    works(kvspace_slot_get_i64(&again, &number));
    assert_int_equal(3, number);
}

static void test_moved(void **state) {
    (void)state;
    struct kvspace_slot inner, old;
    int64_t number;
    works(kvspace_set_i64(space, "/from/a/b", 1));
    works(kvspace_set_i64(space, "/to/a/b", 2));
    works(kvspace_slot_open(space, "/from/a/b", KVSPACE_SLOT_EXISTING, &inner));
    works(kvspace_slot_open(space, "/to/a/b", KVSPACE_SLOT_EXISTING, &old));
    works(kvspace_replace(space, "/from/a", "/to/a", "/old"));
    works(kvspace_slot_get_i64(&inner, &number)); /* it moves with its subtree */
    assert_int_equal(1, number);
    works(kvspace_slot_set_i64(&inner, 5));
    holds_i64("/to/a/b", 5);
    works(kvspace_slot_set_i64(&old, 6));
    holds_i64("/old/b", 6);
    works(kvspace_cp_tree(space, "/old", "/to/a")); /* the old one is another key's */
    gives(KVSPACE_EGONE, kvspace_slot_get_i64(&inner, &number));
    holds_i64("/to/a/b", 6);
}

static void test_members(void **state) {
    (void)state;
    struct kvspace_slot slot;
    int64_t number;
    works(kvspace_set_literal(space, "/m", "{a=1}", 5, NULL));
    works(kvspace_slot_open(space, "/m" DOT "a", KVSPACE_SLOT_EXISTING, &slot));
    works(kvspace_slot_set_i64(&slot, 5));
    prints("/m", "{a=5}");
    works(kvspace_set_literal(space, "/m", "{a=1}", 5, NULL)); /* another container, another member */
    gives(KVSPACE_EGONE, kvspace_slot_get_i64(&slot, &number));
    works(kvspace_slot_open(space, "/m" DOT "a", KVSPACE_SLOT_EXISTING, &slot));
    works(kvspace_set_i64(space, "/m", 1));
    gives(KVSPACE_EGONE, kvspace_slot_get_i64(&slot, &number));
    gives(KVSPACE_EUNSUPPORTED, kvspace_slot_open(space, "/sys/space/used", KVSPACE_SLOT_EXISTING, &slot));
}

static void test_read_only(void **state) {
    (void)state;
    struct kvspace_value value = kvspace_value_i64(1);
    struct kvspace_slot slot;
    value.ro = 1;
    works(kvspace_set(space, "/r", &value));
    works(kvspace_slot_open(space, "/r", KVSPACE_SLOT_CREATE, &slot));
    gives(KVSPACE_EREADONLY, kvspace_slot_set_i64(&slot, 2));
    gives(KVSPACE_EREADONLY, kvspace_slot_set(&slot, &value));
    gives(KVSPACE_EREADONLY, kvspace_slot_incr(&slot, 1, NULL));
    holds_i64("/r", 1);
}

/* Another process makes the key anew again and again, with values that begin and end alike; the slots here
 * see whole ones or EGONE. */
static void test_while_another_deletes(void **state) {
    (void)state;
    enum { BYTES = 3000 };
    works(kvspace_set_i64(space, "/go", 1));
    pid_t child = fork();
    if (child == 0) {
        alarm(120); /* whatever becomes of the parent */
        static unsigned char body[BYTES];
        kvspace *own;
        int go = 1, sound = kvspace_open(fixture_dsn, &own) == 0;
        for (unsigned round = 0; sound && go; round++) {
            int64_t more = 0;
            memset(body, (int)(round & 255), sizeof body);
            struct kvspace_value value = {
                .kind = KVSPACE_UINT8, .ndim = 1, .body = body, .body_bytes = BYTES - round % 2000};
            sound = kvspace_set(own, "/w/x", &value) == 0;
            if (round % 3 == 0) sound &= kvspace_set_i64(own, "/w/x", 42) == 0;
            if (round % 5 == 0) sound &= kvspace_del(own, "/w/x") == 0;
            go = kvspace_get_i64(own, "/go", &more) == 0;
        }
        if (sound) kvspace_close(own);
        _exit(sound ? 0 : 1);
    }
    struct kvspace_slot slot = {0};
    unsigned whole = 0, gone = 0;
    for (unsigned rounds = 0; (rounds < 3000000 && whole < 20000) || whole < 100; rounds++) {
        struct kvspace_value value;
        int64_t number;
        if (!slot.space && kvspace_slot_open(space, "/w/x", KVSPACE_SLOT_EXISTING, &slot)) {
            kvspace_slot_close(&slot);
            continue;
        }
        int rc = kvspace_slot_get(&slot, &value);
        if (rc == KVSPACE_EGONE) {
            gone++;
            kvspace_slot_close(&slot);
            continue;
        }
        if (rc == KVSPACE_ENOENT) continue;
        gives(0, rc);
        if (value.kind == KVSPACE_INT64)
            assert_int_equal(42, value.scalar.i64);
        else {
            const unsigned char *bytes = value.body;
            assert_int_equal(KVSPACE_UINT8, value.kind);
            assert_int_equal(value.dims[0], value.body_bytes);
            for (uint64_t i = 0; i < value.body_bytes; i++)
                if (bytes[i] != bytes[0])
                    fail_msg("byte %llu of %llu is torn", (unsigned long long)i,
                             (unsigned long long)value.body_bytes);
            whole++;
        }
        rc = kvspace_slot_get_i64(&slot, &number);
        if (!rc)
            assert_int_equal(42, number);
        else if (rc != KVSPACE_EGONE && rc != KVSPACE_ETYPE && rc != KVSPACE_ENOENT)
            gives(0, rc);
    }
    works(kvspace_del(space, "/go"));
    int status = 0;
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_int_equal(0, status);
    assert_true(gone > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_basic, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_gone, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_moved, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_members, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_read_only, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_while_another_deletes, open_space, close_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
