/* Providers: computed keys beside stored ones, what they get and give, errors, /sys. Relies on
 * space_fixture.h. The provider here is a table of numbers "NAME=NUMBER,…" in its record, below which each
 * number has a key, and a member ·twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "space_fixture.h"

#define DOT "\xc2\xb7"

/* The number of a name in the record. */
static bool look_up(const struct kvspace_provider_call *call, const char *name, size_t bytes,
                    int64_t *number) {
    const char *at = call->record, *end = at + call->record_bytes;
    while (at < end) {
        const char *equals = memchr(at, '=', (size_t)(end - at)),
                   *comma = memchr(at, ',', (size_t)(end - at));
        if (!comma) comma = end;
        if (!equals || equals > comma) return false;
        if ((size_t)(equals - at) == bytes && memcmp(at, name, bytes) == 0) {
            *number = strtoll(equals + 1, NULL, 10);
            return true;
        }
        at = comma + 1;
    }
    return false;
}

static int table_get(const struct kvspace_provider_call *call, struct kvspace_value *out) {
    int64_t number;
    if (call->rest[0] != '/') return KVSPACE_ENOENT;
    const char *dot = strstr(call->rest, DOT);
    size_t bytes = dot ? (size_t)(dot - call->rest) : strlen(call->rest);
    if (!look_up(call, call->rest + 1, bytes - 1, &number)) return KVSPACE_ENOENT;
    if (dot && strcmp(dot, DOT "twice") == 0)
        number *= 2;
    else if (dot && strcmp(dot, DOT "text") == 0) {
        char *text = kvspace_provider_memory(call->space, 32);
        if (!text) return KVSPACE_ENOMEM;
        *out = kvspace_value_utf8(text, (size_t)snprintf(text, 32, "<%lld>", (long long)number));
        return 0;
    } else if (dot)
        return KVSPACE_ENOENT;
    *out = kvspace_value_i64(number);
    return 0;
}

static int table_list(const struct kvspace_provider_call *call, struct kvspace_provider_listing *listing) {
    if (call->rest[0]) {
        int64_t number;
        if (!look_up(call, call->rest + 1, strlen(call->rest + 1), &number)) return KVSPACE_ENOENT;
        kvspace_provider_entry(listing, DOT "twice", 1, 0, 0);
        return kvspace_provider_entry(listing, DOT "text", 1, 0, 0);
    }
    const char *at = call->record, *end = at + call->record_bytes;
    while (at < end) {
        char text[64];
        const char *comma = memchr(at, ',', (size_t)(end - at));
        int bytes = (int)strcspn(at, "=");
        snprintf(text, sizeof text, "/%.*s", bytes, at);
        int rc = kvspace_provider_entry(listing, text, 1, 0, 1);
        if (rc) return rc;
        at = comma ? comma + 1 : end;
    }
    return 0;
}

/* Setting writes the whole record anew: one number. */
static int table_set(const struct kvspace_provider_call *call, const struct kvspace_value *value) {
    char record[128];
    if (!value) return KVSPACE_EREADONLY;
    if (value->kind != KVSPACE_INT64) return KVSPACE_ETYPE;
    int bytes = snprintf(record, sizeof record, "%s=%lld", call->rest + 1, (long long)value->scalar.i64);
    return kvspace_set_word(call->space, call->key, "provider/table", record, (size_t)bytes);
}

static const struct kvspace_provider table = {
    .name = "table", .get = table_get, .set = table_set, .list = table_list};

static int open_with_provider(void **state) {
    int rc = open_space(state);
    if (!rc) rc = kvspace_provider_register(space, &table);
    if (!rc) rc = kvspace_set_word(space, "/p", "provider/table", "a=1,b=2,c=3", 11);
    return rc;
}

static void test_reading(void **state) {
    (void)state;
    struct kvspace_value value, *copy;
    holds_i64("/p/a", 1);
    holds_i64("/p/c", 3);
    holds_i64("/p/b" DOT "twice", 4);
    holds_text("/p/b" DOT "text", "<2>");
    gives(KVSPACE_ENOENT, kvspace_get(space, "/p/d", &value));
    works(kvspace_exists(space, "/p/a"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/p/d"));
    lists("/p", KVSPACE_LIST_CHILDREN, "/a /b /c");
    lists("/p/a", KVSPACE_LIST_ALL, DOT "twice " DOT "text");
    works(kvspace_get(space, "/p", &value)); /* its own get has nothing there, so the record shows */
    assert_int_equal(11, value.body_bytes);
    works(kvspace_get_copy(space, "/p/a" DOT "text", &copy));
    assert_memory_equal("<1>", copy->body, 3);
    kvspace_value_free(copy);
    struct kvspace_counts counts;
    works(kvspace_count(space, "/p", &counts));
    assert_int_equal(3, counts.children);
    works(kvspace_set_pointer(space, "/to", "/p/b"));
    works(kvspace_get_followed(space, "/to", &value, NULL));
    assert_int_equal(2, value.scalar.i64);
    works(kvspace_read_begin(space)); /* what it lends lives as long as other lent values */
    struct kvspace_value text;
    works(kvspace_get(space, "/p/a" DOT "text", &text));
    for (int i = 0; i < 1000; i++) works(kvspace_get(space, "/p/b" DOT "text", &value));
    assert_memory_equal("<1>", text.body, 3);
    works(kvspace_read_end(space));
}

static void test_writing(void **state) {
    (void)state;
    struct kvspace_slot slot;
    works(kvspace_set_i64(space, "/p/x", 9));
    holds_i64("/p/x", 9);
    gives(KVSPACE_ENOENT, kvspace_get_i64(space, "/p/a", &(int64_t){0}));
    gives(KVSPACE_ETYPE, kvspace_set_text(space, "/p/x", "text"));
    gives(KVSPACE_EREADONLY, kvspace_set(space, "/p/x", NULL));
    gives(KVSPACE_EREADONLY, kvspace_del(space, "/p/x")); /* no function for it */
    gives(KVSPACE_EUNSUPPORTED, kvspace_slot_open(space, "/p/x", KVSPACE_SLOT_EXISTING, &slot));
    gives(KVSPACE_EUNSUPPORTED, kvspace_incr(space, "/p/x", 1, NULL));
    gives(KVSPACE_EUNSUPPORTED, kvspace_mkindex(space, "/p/x", "[]char/utf8" DOT "any"));
    works(kvspace_set_i64(space, "/other", 1));
    gives(KVSPACE_EUNSUPPORTED, kvspace_replace(space, "/other", "/p/x", NULL));
    works(kvspace_cp(space, "/other", "/p/y")); /* a set like any other */
    holds_i64("/p/y", 1);
    works(kvspace_cp(space, "/p/y", "/copy"));
    holds_i64("/copy", 1);
    works(kvspace_cp_tree(space, "/p/y", "/tree"));
    holds_i64("/tree" DOT "twice", 2);
    works(kvspace_del(space, "/p"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/p/y"));
}

static void test_not_registered(void **state) {
    (void)state;
    kvspace *other;
    struct kvspace_value value;
    kvspace_cursor *cursor;
    works(kvspace_open(fixture_dsn, &other));
    assert_int_equal(KVSPACE_EPROVIDER, kvspace_get(other, "/p/a", &value));
    assert_int_equal(KVSPACE_EPROVIDER, kvspace_exists(other, "/p/a"));
    assert_int_equal(KVSPACE_EPROVIDER, kvspace_set_i64(other, "/p/a", 1));
    assert_int_equal(KVSPACE_EPROVIDER, kvspace_list_open(other, "/p", NULL, &cursor));
    assert_non_null(strstr(kvspace_message(other), "provider/table"));
    assert_int_equal(0, kvspace_get(other, "/p", &value)); /* its record is a value like any other */
    assert_int_equal(0, kvspace_provider_register(other, &table));
    assert_int_equal(KVSPACE_EEXIST, kvspace_provider_register(other, &table));
    assert_int_equal(0, kvspace_get(other, "/p/a", &value));
    static struct kvspace_provider many[20];
    static char names[20][16];
    int rc = 0, count = 0;
    for (; !rc && count < 20; count++) {
        snprintf(names[count], sizeof names[count], "n%d", count);
        many[count].name = names[count];
        rc = kvspace_provider_register(other, &many[count]);
    }
    assert_int_equal(KVSPACE_ELIMIT, rc);
    kvspace_close(other);
}

static void test_nothing_at_all(void **state) {
    (void)state;
    static const struct kvspace_provider bare = {.name = "bare"};
    struct kvspace_value value;
    works(kvspace_provider_register(space, &bare));
    works(kvspace_set_word(space, "/b", "provider/bare", "", 0));
    gives(KVSPACE_ENOENT, kvspace_get(space, "/b/x", &value));
    gives(KVSPACE_EREADONLY, kvspace_set_i64(space, "/b/x", 1));
    gives(KVSPACE_EREADONLY, kvspace_del_tree(space, "/b/x", NULL));
    lists("/b", KVSPACE_LIST_ALL, "");
}

static void test_sys(void **state) {
    (void)state;
    struct kvspace_value value;
    uint64_t number;
    int truth;
    char key[64];
    lists("/sys", KVSPACE_LIST_CHILDREN, "/space /participant");
    works(kvspace_get_u64(space, "/sys/space/limit", &number));
    assert_true(number == UINT64_C(1) << 36);
    works(kvspace_get_u64(space, "/sys/space/format", &number));
    assert_int_equal(kvspace_format_version(), number);
    lists("/sys/participant", KVSPACE_LIST_CHILDREN, "/0");
    kvspace *other;
    struct kvspace_open_options options = {.label =
                                               "the other one, whose label is much longer than 31 bytes"};
    works(kvspace_open_with(fixture_dsn, &options, &other));
    lists("/sys/participant", KVSPACE_LIST_CHILDREN, "/0 /1");
    holds_text("/sys/participant/1/label", "the other one, whose label is m");
    works(kvspace_get_bool(space, "/sys/participant/0/self", &truth));
    assert_int_equal(1, truth);
    works(kvspace_get_bool(space, "/sys/participant/1/self", &truth));
    assert_int_equal(0, truth);
    works(kvspace_get(space, "/sys/participant/1/since", &value));
    assert_int_equal(KVSPACE_TIME, value.kind);
    kvspace_close(other);
    lists("/sys/participant", KVSPACE_LIST_CHILDREN, "/0");
    for (int i = -1; i < 2000; i += 7) {
        snprintf(key, sizeof key, "/sys/participant/%d/pid", i);
        if (i) gives(KVSPACE_ENOENT, kvspace_get(space, key, &value));
    }
    gives(KVSPACE_ENOENT, kvspace_get(space, "/sys/participant/0x/pid", &value));
    gives(KVSPACE_EREADONLY, kvspace_set_i64(space, "/sys/space/limit", 1));
    gives(KVSPACE_EREADONLY, kvspace_set_i64(space, "/sys/x", 1));
    gives(KVSPACE_EREADONLY, kvspace_del(space, "/sys/space/limit"));
    works(kvspace_set_i64(space, "/sys/runtime/7", 1)); /* what runtimes announce is stored */
    holds_i64("/sys/runtime/7", 1);
    works(kvspace_del(space, "/sys/runtime/7"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reading, open_with_provider, close_space),
        cmocka_unit_test_setup_teardown(test_writing, open_with_provider, close_space),
        cmocka_unit_test_setup_teardown(test_not_registered, open_with_provider, close_space),
        cmocka_unit_test_setup_teardown(test_nothing_at_all, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_sys, open_space, close_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
