/* Anonymous spaces: they come and go with their program, stay when they are kept or it was killed, and can be
 * listed and removed. Also names of spaces and options of opening. Relies on space_fixture.h. Promises: all
 * of it happens in a directory of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "space_fixture.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int own_runtime_directory(void **state) {
    (void)state;
    if (fixture_make_directory()) return -1;
    return setenv("XDG_RUNTIME_DIR", fixture_directory, 1);
}

static int leave(void **state) {
    char path[400];
    (void)state;
    snprintf(path, sizeof path, "%s/kvlang", fixture_directory);
    (void)rmdir(path);
    return rmdir(fixture_directory);
}

struct seen {
    unsigned count;
    enum kvspace_anonymous_state state;
    char dsn[256];
};

static int see(void *context, const struct kvspace_anonymous *found) {
    struct seen *seen = context;
    seen->count++;
    seen->state = found->state;
    snprintf(seen->dsn, sizeof seen->dsn, "%s", found->dsn);
    return strncmp(found->dsn, "anon:", 5) || strcmp(found->dsn + 5, found->name) ||
           !strstr(found->path, found->name) || !found->file_bytes;
}

static struct seen look(void) {
    struct seen seen = {0};
    assert_int_equal(0, kvspace_anonymous_list(see, &seen));
    return seen;
}

static void test_live_and_gone(void **state) {
    (void)state;
    kvspace *one, *two;
    assert_int_equal(0, look().count);
    assert_int_equal(0, kvspace_open(NULL, &one));
    struct seen seen = look();
    assert_int_equal(1, seen.count);
    assert_int_equal(KVSPACE_ANONYMOUS_LIVE, seen.state);
    assert_string_equal(seen.dsn, kvspace_dsn(one));
    assert_int_equal(KVSPACE_EBUSY, kvspace_remove(seen.dsn));
    assert_int_equal(0, kvspace_set_i64(one, "/x", 1));
    assert_int_equal(0, kvspace_open(seen.dsn, &two)); /* a tool looks */
    int64_t number;
    assert_int_equal(0, kvspace_get_i64(two, "/x", &number));
    kvspace_close(two);
    assert_int_equal(1, look().count);                  /* and neither keeps nor removes it */
    assert_int_equal(0, kvspace_open_again(one, &two)); /* a thread */
    kvspace_close(two);
    assert_int_equal(1, look().count);
    kvspace_close(one);
    assert_int_equal(0, look().count);
    assert_int_equal(KVSPACE_ENOENT, kvspace_open(seen.dsn, &one));
    assert_int_equal(KVSPACE_ENOENT, kvspace_remove(seen.dsn));
}

static void test_kept(void **state) {
    (void)state;
    struct kvspace_open_options options = {.keep = KVSPACE_KEEP_ALWAYS};
    kvspace *one;
    int64_t number;
    assert_int_equal(0, kvspace_open_with("", &options, &one));
    assert_int_equal(0, kvspace_set_i64(one, "/x", 7));
    kvspace_close(one);
    struct seen seen = look();
    assert_int_equal(1, seen.count);
    assert_int_equal(KVSPACE_ANONYMOUS_KEPT, seen.state);
    assert_int_equal(0, kvspace_open(seen.dsn, &one));
    assert_int_equal(0, kvspace_get_i64(one, "/x", &number));
    assert_int_equal(7, number);
    kvspace_close(one);
    assert_int_equal(0, kvspace_remove(seen.dsn));
    assert_int_equal(0, look().count);
}

static void test_killed(void **state) {
    (void)state;
    int told[2];
    assert_int_equal(0, pipe(told));
    pid_t child = fork();
    if (child == 0) {
        kvspace *own;
        alarm(60);
        if (kvspace_open(NULL, &own) || kvspace_set_i64(own, "/x", 9) || write(told[1], "!", 1) != 1)
            _exit(1);
        pause();
        _exit(2);
    }
    char byte;
    assert_int_equal(1, read(told[0], &byte, 1));
    assert_int_equal(KVSPACE_ANONYMOUS_LIVE, look().state);
    kill(child, SIGKILL);
    assert_int_equal(child, waitpid(child, NULL, 0));
    close(told[0]);
    close(told[1]);
    struct seen seen = look();
    assert_int_equal(1, seen.count);
    assert_int_equal(KVSPACE_ANONYMOUS_CRASHED, seen.state);
    kvspace *one;
    int64_t number;
    assert_int_equal(0, kvspace_open(seen.dsn, &one)); /* what it had acknowledged is there */
    assert_int_equal(0, kvspace_get_i64(one, "/x", &number));
    assert_int_equal(9, number);
    kvspace_close(one);
    assert_int_equal(1, look().count); /* who looks does not remove it */
    assert_int_equal(0, kvspace_remove(seen.dsn));
}

static void test_names(void **state) {
    (void)state;
    static const char *const bad[] = {"redis://localhost", "lmdb:/tmp/x", "redis+cluster://a",
                                      "nosuch:x",          "shm:",        "anon:",
                                      "anon:a/b",          "anon:.."};
    char dsn[300];
    kvspace *one;
    struct kvspace_problem problem;
    struct kvspace_open_options options = {.problem = &problem};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        problem.message[0] = 0;
        int rc = kvspace_open_with(bad[i], &options, &one);
        if (rc != KVSPACE_EDSN) fail_msg("%s: %s", bad[i], kvspace_error_name(rc));
        assert_true(problem.message[0]);
        assert_int_equal(KVSPACE_EDSN, kvspace_remove(bad[i]));
    }
    snprintf(dsn, sizeof dsn, "%s/a:b", fixture_directory); /* a bare path, a colon in it */
    options.create = KVSPACE_CREATE_NEVER;
    assert_int_equal(KVSPACE_ENOENT, kvspace_open_with(dsn, &options, &one));
    options.create = KVSPACE_CREATE_NEW;
    options.limit_bytes = 1000;
    assert_int_equal(KVSPACE_EFULL, kvspace_open_with(dsn, &options, &one));
    options.limit_bytes = 8 << 20;
    assert_int_equal(0, kvspace_open_with(dsn, &options, &one));
    struct stat facts;
    assert_int_equal(0, stat(kvspace_file(one), &facts));
    assert_int_equal(0600, facts.st_mode & 0777);
    char key[64];
    int rc = 0;
    for (int i = 0; !rc && i < 1000000; i++) {
        snprintf(key, sizeof key, "/fill/%d", i);
        rc = kvspace_set_text(one, key, "a text that is too long for a cell");
    }
    assert_int_equal(KVSPACE_EFULL, rc);
    assert_non_null(strstr(kvspace_message(one), "bytes"));
    assert_int_equal(0, kvspace_del(one, "/fill")); /* needs no memory */
    assert_int_equal(0, kvspace_set_i64(one, "/fill/again", 1));
    assert_int_equal(KVSPACE_EBUSY, kvspace_remove(dsn));
    kvspace_close(one);
    assert_int_equal(KVSPACE_EEXIST, kvspace_open_with(dsn, &options, &one));
    assert_int_equal(0, kvspace_remove(dsn));
    FILE *foreign = fopen(dsn, "w");
    assert_non_null(foreign);
    for (int i = 0; i < 5000; i++) fputs("not a space ", foreign);
    fclose(foreign);
    assert_int_equal(KVSPACE_EFOREIGN, kvspace_open(dsn, &one));
    assert_int_equal(KVSPACE_EFOREIGN, kvspace_remove(dsn));
    unlink(dsn);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_live_and_gone, own_runtime_directory, leave),
        cmocka_unit_test_setup_teardown(test_kept, own_runtime_directory, leave),
        cmocka_unit_test_setup_teardown(test_killed, own_runtime_directory, leave),
        cmocka_unit_test_setup_teardown(test_names, own_runtime_directory, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
