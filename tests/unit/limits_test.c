/* Limits: deep recursion, big values, a full space, many vthreads. Each gives its result, or an error of the program, and leaves the
 * space whole. Relies on lang_fixture.h. Promises: sizes shrink under sanitizers, where memory and time are dear. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lang_fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SCALE = 10 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SCALE = 10 };
#else
enum { SCALE = 1 };
#endif
#else
enum { SCALE = 1 };
#endif

static void run_with(const char *function, int64_t number, enum kvlang_status expected) {
    struct kvspace_value argument = kvspace_value_i64(number);
    uint64_t vid;
    lang_works(kvlang_start(lang, function, &argument, 1, &vid));
    runs_to(vid, expected);
}

static void fails_saying(uint64_t vid, const char *kind) {
    struct kvlang_failure failure;
    lang_works(kvlang_failure_of(lang, vid, &failure));
    assert_string_equal(kind, failure.kind);
}

static void space_is_whole(void) { works(kvspace_check(space, NULL)); }

/* Below the limit it comes back, at the limit it is an error with a chain of calls that is cut in the middle. */
static void a_million_frames(void **state) {
    (void)state;
    lay_out("rwfunc down(n:int64) -> (r:int64) {\n\tif (n > 0) {\n\t\tdown(n - 1) -> below\n\t\tbelow + 1 -> r\n\t} else { 0 -> r }\n}\n"
            "rwfunc main(n:int64) -> () { down(n) -> r; r -> /out/r }\n");
    run_with("main", 999990 / SCALE, KVLANG_DONE);
    holds_i64("/out/r", 999990 / SCALE);
    run_with("main", 1000010, KVLANG_FAILED);
    fails_saying(2, "RecursionError");
    lang_works(kvlang_remove(lang, 2));
    run_with("main", 1000, KVLANG_DONE);
    space_is_whole();
}

static void a_million_elements(void **state) {
    (void)state;
    lay_out("rwfunc main(n:int64) -> () {\n\txs:[]int64 = []\n\tfor (i in range(0, n)) { array·append(xs, i) -> xs }\n\tys = xs\n\tys[0] = 5\n"
            "\tarray·sum(xs) -> /out/sum\n\tarray·sum(ys) -> /out/other\n\txv·bodylen(xs) -> b\n\tb / 8 -> /out/length\n\txs -> /out/xs\n}\n");
    int64_t n = 1000000 / SCALE;
    run_with("main", n, KVLANG_DONE);
    holds_i64("/out/sum", n * (n - 1) / 2);
    holds_i64("/out/other", n * (n - 1) / 2 + 5);
    holds_i64("/out/length", n);
    struct kvspace_value value;
    works(kvspace_get(space, "/out/xs", &value));
    assert_true(value.body_bytes == (uint64_t)n * 8);
    space_is_whole();
}

static void a_long_string(void **state) {
    (void)state;
    lay_out("rwfunc main(n:int64) -> () {\n\tstring·repeat(\"0123456789\", n) -> s\n\ts + \"end\" -> s\n\tstring·len(s) -> /out/length\n"
            "\tstring·find(s, \"end\") -> /out/at\n\tchar/utf8(s) -> /out/s\n}\n");
    int64_t n = 10000000 / SCALE; /* 100 MB of UTF-8, 400 MB as it is computed with */
    run_with("main", n, KVLANG_DONE);
    holds_i64("/out/length", n * 10 + 3);
    holds_i64("/out/at", n * 10);
    struct kvspace_value value;
    works(kvspace_get(space, "/out/s", &value));
    assert_true(value.body_bytes == (uint64_t)n * 10 + 3);
    assert_memory_equal((const char *)value.body + value.body_bytes - 5, "89end", 5);
}

static void many_vthreads(void **state) {
    (void)state;
    lay_out("rwfunc one(n:int64) -> () { kv·incr(\"/hits\", n) -> _ }\n"
            "rwfunc main(n:int64) -> () {\n\tvids:[]int64 = []\n\tfor (i in range(0, n)) {\n\t\tvthread·spawn(\"one\", i) -> v\n\t\tarray·append(vids, v) -> vids\n\t}\n"
            "\tfor (v in vids) { vthread·wait(v) -> _ }\n}\n");
    int64_t n = 10000 / SCALE;
    run_with("main", n, KVLANG_DONE);
    holds_i64("/hits", n * (n - 1) / 2);
    struct kvspace_counts counts;
    works(kvspace_count(space, "/vthread", &counts));
    assert_true(counts.children == (uint64_t)n + 1);
    for (int64_t vid = 1; vid <= n + 1; vid++) lang_works(kvlang_remove(lang, (uint64_t)vid));
    works(kvspace_count(space, "/vthread", &counts));
    assert_true(counts.children == 0);
    space_is_whole();
}

/* ---- full ---- */

static int open_small(void **state) {
    (void)state;
    if (fixture_make_directory()) return -1;
    struct kvspace_open_options small = {.limit_bytes = 24 << 20};
    struct kvlang_options options = {.dsn = fixture_dsn, .space_options = &small, .bare = 1};
    if (kvlang_open(&options, &lang)) return -1;
    space = kvlang_space(lang);
    return 0;
}

static void eats_all(const char *eater) {
    lay_out("rwfunc values(n:int64) -> () {\n\tfor (i in range(0, n)) { kv·set(\"/fill/\" + string·formatint(i), \"some text that takes room in the tree, and more of it\") }\n}\n"
            "rwfunc elements(n:int64) -> () {\n\txs:[]int64 = []\n\tfor (i in range(0, n)) { array·append(xs, i) -> xs }\n}\n"
            "rwfunc text(n:int64) -> () {\n\t\"x\" -> s\n\tfor (i in range(0, n)) { s + s -> s }\n}\n"
            "rwfunc entries(n:int64) -> () {\n\tm = {}\n\tfor (i in range(0, n)) {\n\t\tstring·formatint(i) -> k\n\t\tm·*k = i\n\t}\n}\n"
            "rwfunc frames(n:int64) -> () {\n\tif (n > 0) {\n\t\tframes(n - 1)\n\t\tn -> _\n\t}\n}\n"
            "rwfunc small(n:int64) -> () { n + 1 -> /out/n }\n");
    works(kvspace_set_i64(space, "/acknowledged", 42));
    uint64_t vid;
    struct kvspace_value argument = kvspace_value_i64(5000000);
    lang_works(kvlang_start(lang, eater, &argument, 1, &vid));
    runs_to(vid, KVLANG_FAILED);
    struct kvlang_failure failure;
    lang_works(kvlang_failure_of(lang, vid, &failure));
    if (strcmp(failure.kind, "OutOfMemoryError") != 0) fail_msg("%s: %s: %s", eater, failure.kind, failure.message);
    holds_i64("/acknowledged", 42);
    space_is_whole();
    lang_works(kvlang_remove(lang, vid)); /* deleting makes room again */
    works(kvspace_del_tree(space, "/fill", NULL));
    run_with("small", 1, KVLANG_DONE);
    holds_i64("/out/n", 2);
}


/* Each in a space of its own: what the runtime's heap has cut up for one size is not joined for another (docs/runtime.md). */
static void a_full_space_is_an_error_of_the_program(void **state) {
    static const char *const eaters[] = {"values", "elements", "text", "entries", "frames"};
    for (size_t i = 0; i < sizeof eaters / sizeof *eaters; i++) {
        if (i && (close_lang(state) || open_small(state))) fail_msg("no space for %s", eaters[i]);
        eats_all(eaters[i]);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_lang, close_lang)
    const struct CMUnitTest tests[] = {
        TEST(a_million_frames), TEST(a_million_elements), TEST(a_long_string), TEST(many_vthreads),
        cmocka_unit_test_setup_teardown(a_full_space_is_an_error_of_the_program, open_small, close_lang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
