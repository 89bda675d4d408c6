/* Watching: changes, deletion, equality, timeouts, keys that do not exist, what happened before the wait,
 * other processes, descriptors. Relies on space_fixture.h. Promises: no wait is longer than some seconds, so
 * a lost wake-up is a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "space_fixture.h"

#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#define DOT "\xc2\xb7"

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A child process that does the change after so many milliseconds, by a handle of its own. */
static pid_t later(unsigned ms, int (*change)(kvspace *own)) {
    pid_t child = fork();
    if (child) return child;
    kvspace *own;
    alarm(60);
    if (kvspace_open(fixture_dsn, &own)) _exit(1);
    usleep(ms * 1000);
    int rc = change(own);
    kvspace_close(own);
    _exit(rc ? 2 : 0);
}

static void ends_well(pid_t child) {
    int status = 0;
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_int_equal(0, status);
}

static int set_seven(kvspace *own) {
    return kvspace_set_i64(own, "/w/x", 7);
}
static int set_child(kvspace *own) {
    return kvspace_set_i64(own, "/w/x/child", 7);
}
static int del_it(kvspace *own) {
    return kvspace_del(own, "/w/x");
}
static int count_up(kvspace *own) {
    int rc = 0;
    for (int i = 0; i < 8 && !rc; i++) {
        rc = kvspace_incr(own, "/w/x", 1, NULL);
        usleep(1000);
    }
    return rc;
}
static int notify(kvspace *own) {
    return kvspace_notify(own, "/w/x");
}
static int replace(kvspace *own) {
    int rc = kvspace_set_i64(own, "/new", 9);
    return rc ? rc : kvspace_replace(own, "/new", "/w/x", NULL);
}

static void test_timeouts(void **state) {
    (void)state;
    struct kvspace_watch_options options = {.timeout_ms = 60};
    struct kvspace_value value;
    works(kvspace_set_i64(space, "/w/x", 1));
    int64_t begin = now_ms();
    gives(KVSPACE_ETIMEOUT, kvspace_watch(space, "/w/x", &options, &value));
    int64_t passed = now_ms() - begin;
    assert_true(passed >= 59 && passed < 3000);
    options.timeout_ms = -1;
    begin = now_ms();
    gives(KVSPACE_ETIMEOUT, kvspace_watch(space, "/w/x", &options, &value));
    assert_true(now_ms() - begin < 1000);
    options.event = KVSPACE_WATCH_DELETE;
    gives(KVSPACE_ETIMEOUT, kvspace_watch(space, "/w/x", &options, NULL));
    works(kvspace_watch(space, "/w/none", &options, NULL)); /* there is none */
    struct kvspace_value one = kvspace_value_i64(1), two = kvspace_value_i64(2);
    options.event = KVSPACE_WATCH_EQUAL;
    options.equal = &two;
    gives(KVSPACE_ETIMEOUT, kvspace_watch(space, "/w/x", &options, NULL));
    options.equal = &one;
    works(kvspace_watch(space, "/w/x", &options, &value));
    assert_int_equal(1, value.scalar.i64);
    options.equal = NULL;
    gives(KVSPACE_ETIMEOUT, kvspace_watch(space, "/w/x", &options, NULL));
    works(kvspace_watch(space, "/w/none", &options, NULL));
}

static void test_seen(void **state) {
    (void)state;
    struct kvspace_value value;
    works(kvspace_set_i64(space, "/w/x", 1));
    works(kvspace_get(space, "/w/x", &value));
    uint64_t seen = value.version;
    struct kvspace_watch_options options = {.seen = &seen, .timeout_ms = -1};
    gives(KVSPACE_ETIMEOUT, kvspace_watch(space, "/w/x", &options, NULL));
    works(kvspace_set_i64(space, "/w/x",
                          1)); /* between the read and the wait; the same value is a change too */
    works(kvspace_watch(space, "/w/x", &options, &value));
    assert_true(value.version != seen);
    gives(KVSPACE_ENOENT, kvspace_get(space, "/w/y", &value));
    seen = value.version;
    gives(KVSPACE_ETIMEOUT, kvspace_watch(space, "/w/y", &options, NULL));
    works(kvspace_set_i64(space, "/w/y", 1));
    works(kvspace_watch(space, "/w/y", &options, NULL));
}

static void wakes(const char *key, int (*change)(kvspace *own), enum kvspace_watch_for event,
                  const struct kvspace_value *equal, int64_t expected) {
    struct kvspace_watch_options options = {.event = event, .equal = equal, .timeout_ms = 20000};
    struct kvspace_value value;
    pid_t child = later(50, change);
    int64_t begin = now_ms();
    works(kvspace_watch(space, key, &options, &value));
    if (now_ms() - begin > 900)
        print_message("slow wake-up of %s: %lld ms\n", key, (long long)(now_ms() - begin));
    if (expected)
        assert_int_equal(expected, value.scalar.i64);
    else
        assert_int_equal(0, value.kind);
    ends_well(child);
}

static void test_other_processes(void **state) {
    (void)state;
    struct kvspace_value eight = kvspace_value_i64(15);
    wakes("/w/x", set_seven, KVSPACE_WATCH_CHANGE, NULL, 7); /* which did not exist */
    wakes("/w/x", set_seven, KVSPACE_WATCH_CHANGE, NULL, 7);
    wakes("/w/x", set_child, KVSPACE_WATCH_CHANGE, NULL, 7);
    wakes("/w/x", count_up, KVSPACE_WATCH_EQUAL, &eight, 15);
    wakes("/w/x", notify, KVSPACE_WATCH_CHANGE, NULL, 15);
    wakes("/w/x", replace, KVSPACE_WATCH_CHANGE, NULL, 9);
    wakes("/w/x", del_it, KVSPACE_WATCH_DELETE, NULL, 0);
    wakes("/w/x", set_seven, KVSPACE_WATCH_CHANGE, NULL, 7);
    wakes("/w/x", del_it, KVSPACE_WATCH_CHANGE, NULL, 0);
    wakes("/w/x", set_seven, KVSPACE_WATCH_EQUAL,
          &(struct kvspace_value){.kind = KVSPACE_INT64, .scalar.i64 = 7}, 7);
    wakes("/w/x", del_it, KVSPACE_WATCH_EQUAL, NULL, 0);
    gives(KVSPACE_ENOENT, kvspace_notify(space, "/w/x"));
}

static int ping_pong(kvspace *own) {
    struct kvspace_watch_options options = {.event = KVSPACE_WATCH_EQUAL, .timeout_ms = 20000};
    int rc = 0;
    for (int64_t round = 1; round <= 2000 && !rc; round++) {
        struct kvspace_value wanted = kvspace_value_i64(round);
        options.equal = &wanted;
        rc = kvspace_watch(own, "/ping", &options, NULL);
        if (!rc) rc = kvspace_set_i64(own, "/pong", round);
    }
    return rc;
}

/* No wake-up is lost in 2,000 rounds; one that was would cost a second. */
static void test_ping_pong(void **state) {
    (void)state;
    struct kvspace_watch_options options = {.event = KVSPACE_WATCH_EQUAL, .timeout_ms = 20000};
    pid_t child = later(0, ping_pong);
    int64_t begin = now_ms();
    for (int64_t round = 1; round <= 2000; round++) {
        struct kvspace_value wanted = kvspace_value_i64(round);
        options.equal = &wanted;
        works(kvspace_set_i64(space, "/ping", round));
        works(kvspace_watch(space, "/pong", &options, NULL));
    }
    int64_t passed = now_ms() - begin;
    ends_well(child);
    if (passed > 60000) fail_msg("2,000 rounds take %lld ms", (long long)passed);
}

static bool readable(const kvspace_watcher *watcher, int ms) {
    struct pollfd ready = {.fd = kvspace_watcher_descriptor(watcher), .events = POLLIN};
    return poll(&ready, 1, ms) == 1;
}

static void test_descriptor(void **state) {
    (void)state;
    kvspace_watcher *watcher;
    struct kvspace_value value;
    works(kvspace_set_i64(space, "/w/x", 1));
    works(kvspace_watcher_open(space, "/w/x", NULL, &watcher));
    assert_false(readable(watcher, 20));
    gives(KVSPACE_ETIMEOUT, kvspace_watcher_take(watcher, &value));
    for (int64_t round = 2; round < 30; round++) {
        works(kvspace_set_i64(space, "/w/x", round));
        assert_true(readable(watcher, 10000));
        works(kvspace_watcher_take(watcher, &value));
        assert_int_equal(round, value.scalar.i64);
        assert_false(readable(watcher, 1));
    }
    pid_t child = later(20, del_it);
    assert_true(readable(watcher, 10000));
    works(kvspace_watcher_take(watcher, &value));
    assert_int_equal(0, value.kind);
    ends_well(child);
    works(kvspace_set_i64(space, "/w/x", 5));
    assert_true(readable(watcher, 10000));
    kvspace_watcher_close(watcher);
    struct kvspace_value wanted = kvspace_value_i64(7);
    struct kvspace_watch_options options = {.event = KVSPACE_WATCH_EQUAL, .equal = &wanted};
    works(kvspace_watcher_open(space, "/w/x", &options, &watcher));
    wanted = kvspace_value_i64(8); /* what is given is copied */
    works(kvspace_set_i64(space, "/w/x", 6));
    assert_false(readable(watcher, 50));
    works(kvspace_set_i64(space, "/w/x", 7));
    assert_true(readable(watcher, 10000));
    kvspace_watcher_close(watcher);
    kvspace_watcher_close(NULL);
    gives(KVSPACE_EKEY, kvspace_watcher_open(space, "nokey", NULL, &watcher));
    kvspace_watcher *many[20];
    for (int i = 0; i < 20; i++) works(kvspace_watcher_open(space, "/w/x", NULL, &many[i]));
    works(kvspace_set_i64(space, "/w/x", 9));
    for (int i = 0; i < 20; i++) assert_true(readable(many[i], 10000));
    int64_t begin = now_ms();
    for (int i = 0; i < 20; i++) kvspace_watcher_close(many[i]);
    assert_true(now_ms() - begin < 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_timeouts, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_seen, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_other_processes, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_ping_pong, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_descriptor, open_space, close_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
