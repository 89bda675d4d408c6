/* A runtime on a space of its own for every test, programs laid out from text, and the assertions that most of these tests share.
 * Relies on space_fixture.h and kvlang.h. Promises: nothing is left behind; a failure tells the runtime's message. */
#ifndef KVLANG_TESTS_LANG_FIXTURE_H
#define KVLANG_TESTS_LANG_FIXTURE_H

#include "space_fixture.h"

#include <kvlang/kvlang.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

static kvlang *lang;

FIXTURE_FUNCTION kvlang *another_runtime(void) {
    kvlang *other;
    struct kvlang_options options = {.dsn = fixture_dsn, .bare = 1};
    return kvlang_open(&options, &other) ? NULL : other;
}

FIXTURE_FUNCTION int open_lang(void **state) {
    (void)state;
    if (fixture_make_directory()) return -1;
    lang = another_runtime();
    if (!lang) return -1;
    space = kvlang_space(lang);
    return 0;
}

FIXTURE_FUNCTION int close_lang(void **state) {
    (void)state;
    kvlang_close(lang);
    lang = NULL;
    space = NULL;
    unlink(fixture_dsn + 4);
    return rmdir(fixture_directory);
}

/* The call on the runtime gave this code. */
#define lang_gives(expected, call) lang_gives_at(expected, call, #call, __FILE__, __LINE__)
#define lang_works(call)           lang_gives(0, call)

FIXTURE_FUNCTION void lang_gives_at(int expected, int code, const char *call, const char *file, int line) {
    if (code == expected) return;
    print_error("%s\n    gives \"%s\" instead of \"%s\"; %s\n", call, kvlang_strerror(code), kvlang_strerror(expected), kvlang_message(lang));
    _fail(file, line);
}

FIXTURE_FUNCTION int to_stderr(void *context, const char *bytes, size_t count) {
    (void)context;
    fwrite(bytes, 1, count, stderr);
    return 0;
}

FIXTURE_FUNCTION void lay_out(const char *text) { lang_works(kvlang_lay_out(lang, "test.kv", text, 0, to_stderr, NULL)); }

FIXTURE_FUNCTION uint64_t start(const char *function) {
    uint64_t vid = 0;
    lang_works(kvlang_start(lang, function, NULL, 0, &vid));
    return vid;
}

/* Runs it and expects that status; a failure of the program is shown. */
FIXTURE_FUNCTION void runs_to(uint64_t vid, enum kvlang_status expected) {
    enum kvlang_status status;
    char *text;
    lang_works(kvlang_run(lang, vid, 0, &status));
    if (status == expected) return;
    if (status == KVLANG_FAILED && !kvlang_failure_text(lang, vid, &text)) {
        print_error("%s", text);
        free(text);
    }
    fail_msg("vthread %llu is %s", (unsigned long long)vid, kvlang_status_name(status));
}

FIXTURE_FUNCTION void fails_with(uint64_t vid, const char *kind, const char *part) {
    struct kvlang_failure failure;
    runs_to(vid, KVLANG_FAILED);
    lang_works(kvlang_failure_of(lang, vid, &failure));
    assert_string_equal(kind, failure.kind);
    if (!strstr(failure.message, part)) fail_msg("\"%s\" does not say \"%s\"", failure.message, part);
}

FIXTURE_FUNCTION void sleep_ms(long ms) {
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* A process that does something with a runtime of its own, and can be killed. */
FIXTURE_FUNCTION pid_t in_child(void (*work)(kvlang *own)) {
    pid_t child = fork();
    if (child) return child;
    kvlang *own = another_runtime();
    if (!own) _exit(2);
    work(own);
    kvlang_close(own);
    _exit(0);
}

FIXTURE_FUNCTION void kill_child(pid_t child) {
    int status;
    kill(child, SIGKILL);
    assert_int_equal(child, waitpid(child, &status, 0));
}

FIXTURE_FUNCTION void run_first(kvlang *own) { kvlang_run(own, 1, 0, NULL); }

/* Until the key holds at least that number; fails after ten seconds. */
FIXTURE_FUNCTION void until_i64(const char *key, int64_t least) {
    int64_t number = INT64_MIN;
    for (unsigned i = 0; i < 10000; i++, sleep_ms(1))
        if (kvspace_get_i64(space, key, &number) == 0 && number >= least) return;
    fail_msg("%s has not come to %lld", key, (long long)least);
}

#endif
