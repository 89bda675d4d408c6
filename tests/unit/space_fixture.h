/* A space of its own for every test of the tree, in a fresh directory, and the assertions that most of them
 * share. Relies on cmocka, which the includer has included. Promises: nothing is left behind, also by a
 * failed test; a failure tells the code's name and the handle's message. */
#ifndef KVLANG_TESTS_SPACE_FIXTURE_H
#define KVLANG_TESTS_SPACE_FIXTURE_H

#include <kvspace/kvspace.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__GNUC__)
#define FIXTURE_FUNCTION __attribute__((unused)) static
#else
#define FIXTURE_FUNCTION static
#endif

static kvspace *space;
static char fixture_directory[256], fixture_dsn[300];

FIXTURE_FUNCTION int fixture_make_directory(void) {
    const char *top = getenv("TMPDIR");
    snprintf(fixture_directory, sizeof fixture_directory, "%s/kvspace-test-XXXXXX",
             top && *top ? top : "/tmp");
    if (!mkdtemp(fixture_directory)) return -1;
    snprintf(fixture_dsn, sizeof fixture_dsn, "shm:%s/space", fixture_directory);
    return 0;
}

FIXTURE_FUNCTION int open_space(void **state) {
    (void)state;
    if (fixture_make_directory()) return -1;
    return kvspace_open(fixture_dsn, &space);
}

FIXTURE_FUNCTION int close_space(void **state) {
    (void)state;
    kvspace_close(space);
    space = NULL;
    unlink(fixture_dsn + 4);
    return rmdir(fixture_directory);
}

FIXTURE_FUNCTION void reopen_space(void) {
    kvspace_close(space);
    space = NULL;
    if (kvspace_open(fixture_dsn, &space)) fail_msg("the space does not open again");
}

/* The call gave this code. */
#define gives(expected, call) gives_at(expected, call, #call, __FILE__, __LINE__)
#define works(call)           gives(0, call)

FIXTURE_FUNCTION void gives_at(int expected, int code, const char *call, const char *file, int line) {
    if (code == expected) return;
    print_error("%s\n    gives %s instead of %s; %s\n", call, kvspace_error_name(code),
                kvspace_error_name(expected), space ? kvspace_message(space) : "");
    _fail(file, line);
}

FIXTURE_FUNCTION void holds_i64(const char *key, int64_t expected) {
    int64_t number = 0;
    gives(0, kvspace_get_i64(space, key, &number));
    if (number != expected) fail_msg("%s holds %lld, not %lld", key, (long long)number, (long long)expected);
}

FIXTURE_FUNCTION void holds_text(const char *key, const char *expected) {
    static char text[1 << 16];
    gives(0, kvspace_get_text(space, key, text, sizeof text, NULL));
    assert_string_equal(expected, text);
}

/* The value as a literal, `{a=1}`. */
FIXTURE_FUNCTION void prints(const char *key, const char *expected) {
    static char text[1 << 16];
    struct kvspace_print_options options = {.style = KVSPACE_PRINT_QUOTED};
    gives(0, kvspace_print_text(space, key, &options, text, sizeof text, NULL));
    assert_string_equal(expected, text);
}

/* What is below a key, joined by blanks: "/a /b ·c". */
FIXTURE_FUNCTION void lists(const char *key, enum kvspace_list what, const char *expected) {
    static char text[1 << 16];
    struct kvspace_list_options options = {.what = what};
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    size_t used = 0;
    int rc;
    gives(0, kvspace_list_open(space, key, &options, &cursor));
    while (!(rc = kvspace_list_next(cursor, &entry))) {
        if (used + entry.text_bytes + 2 > sizeof text) fail_msg("too many entries");
        if (used) text[used++] = ' ';
        memcpy(text + used, entry.text, entry.text_bytes);
        used += entry.text_bytes;
    }
    text[used] = 0;
    kvspace_list_close(cursor);
    gives(KVSPACE_EEND, rc);
    assert_string_equal(expected, text);
}

#endif
