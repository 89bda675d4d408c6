/* The life of vthreads: attention from elsewhere, functions replaced while they are called, leases and their takeover, single steps, waits
 * and rings of them. Relies on lang_fixture.h. Promises: what is asked for is waited for by its effect, never by the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lang_fixture.h"

static const char endless[] = "rwfunc step(i:int64) -> (r:int64) { i + 1 -> r }\n"
                              "rwfunc main() -> () {\n\t0 -> i\n\twhile (/stop == None) { step(i) -> i }\n\ti -> /out/i\n}\n"
                              "rwfunc tight() -> () {\n\t0 -> i\n\twhile (i >= 0) { i + 1 -> i }\n}\n";

struct runner {
    pthread_t thread;
    uint64_t vid;
    int rc;
    enum kvlang_status status;
};

static void *run_in_thread(void *context) {
    struct runner *runner = context;
    kvlang *own = another_runtime();
    if (!own) return NULL;
    runner->rc = kvlang_run(own, runner->vid, 0, &runner->status);
    kvlang_close(own);
    return NULL;
}

static void begin(struct runner *runner, const char *function) {
    *runner = (struct runner){.vid = start(function), .rc = -1};
    assert_int_equal(0, pthread_create(&runner->thread, NULL, run_in_thread, runner));
    enum kvlang_status status = KVLANG_INIT;
    for (unsigned i = 0; i < 10000 && status != KVLANG_RUNNING; i++, sleep_ms(1)) lang_works(kvlang_status_of(lang, runner->vid, &status));
    assert_int_equal(KVLANG_RUNNING, status);
}

static void ends(struct runner *runner, enum kvlang_status expected) {
    pthread_join(runner->thread, NULL);
    assert_int_equal(0, runner->rc);
    assert_string_equal(kvlang_status_name(expected), kvlang_status_name(runner->status));
}

static void pause_stops_a_running_loop(void **state) {
    (void)state;
    struct runner runner;
    lay_out(endless);
    begin(&runner, "tight");
    until_i64("/vthread/1/i", 1);
    lang_works(kvlang_pause(lang, runner.vid));
    ends(&runner, KVLANG_PAUSED);
    int64_t i = -1;
    works(kvspace_get_i64(space, "/vthread/1/i", &i));
    assert_true(i >= 0);
    works(kvspace_set_i64(space, "/vthread/1/i", -10)); /* and goes on as it was left */
    runs_to(runner.vid, KVLANG_DONE);
    int64_t last = 0;
    works(kvspace_get_i64(space, "/vthread/1/i", &last));
    assert_true(last == -10 || last == -9); /* it stood before the addition or behind it */
}

static void kill_ends_a_running_loop(void **state) {
    (void)state;
    struct runner runner;
    struct kvlang_failure failure;
    lay_out(endless);
    begin(&runner, "tight");
    lang_works(kvlang_cancel(lang, runner.vid));
    ends(&runner, KVLANG_FAILED);
    lang_works(kvlang_failure_of(lang, runner.vid, &failure));
    assert_string_equal("RuntimeError", failure.kind);
    assert_string_equal("killed", failure.message);
    assert_true(failure.line == 8 || failure.line == 9);
}

/* The function is laid out anew by another process than the one that calls it. */
static void replaced_functions_are_called_at_once(void **state) {
    (void)state;
    struct runner runner;
    lay_out(endless);
    begin(&runner, "main");
    static const char replaced[] = "rwfunc step(i:int64) -> (r:int64) { 0 - 5 -> r; r -> /stop }\n";
    lang_works(kvlang_lay_out(lang, "step.kv", replaced, 0, to_stderr, NULL));
    ends(&runner, KVLANG_DONE);
    holds_i64("/out/i", -5);
}

static void edited_rows_are_called_at_once(void **state) {
    (void)state;
    struct runner runner;
    lay_out("rwfunc step(i:int64) -> (r:int64) { i * 1 -> r }\n"
            "rwfunc main() -> () {\n\t1 -> i\n\twhile (i < 1000000) { step(i) -> i }\n\ti -> /out/i\n}\n");
    begin(&runner, "main");
    works(kvspace_set_i64(space, "/lib/step/[1,-2]", 10));
    ends(&runner, KVLANG_DONE);
    holds_i64("/out/i", 1000000);
}

/* Set from elsewhere while the loop runs; left by going on, hit again in the next round. */
static void breakpoints_stop_a_running_loop(void **state) {
    (void)state;
    struct runner runner;
    enum kvlang_status status;
    int64_t before = 0, after = 0;
    lay_out(endless);
    begin(&runner, "main");
    works(kvspace_set_text(space, "/vthread/1/‥break", "/lib/nowhere/[1,0] /lib/step/[1,0]"));
    ends(&runner, KVLANG_PAUSED);
    char pc[128];
    works(kvspace_get_text(space, "/vthread/1/‥pc", pc, sizeof pc, NULL));
    assert_non_null(strstr(pc, "/[1,0]"));
    for (unsigned round = 0; round < 3; round++) {
        works(kvspace_get_i64(space, "/vthread/1/i", &before));
        lang_works(kvlang_run(lang, runner.vid, 0, &status));
        assert_int_equal(KVLANG_PAUSED, status);
        works(kvspace_get_i64(space, "/vthread/1/i", &after));
        assert_true(after == before + 1);
    }
    works(kvspace_del(space, "/vthread/1/‥break"));
    works(kvspace_set_i64(space, "/stop", 1));
    runs_to(runner.vid, KVLANG_DONE);
    holds_i64("/out/i", after + 1);
}

/* Who stands in the old version goes on with it, also in another process. */
static void a_frame_keeps_its_version(void **state) {
    (void)state;
    enum kvlang_status status;
    lay_out("rwfunc f() -> () {\n\t1 -> a\n\ta + 1 -> a\n\ta -> /out/a\n}\n");
    uint64_t vid = start("f");
    lang_works(kvlang_run(lang, vid, 1, &status));
    lay_out("rwfunc f() -> () {\n\t100 -> b\n\tb -> /out/b\n}\n");
    kvlang_close(lang);
    lang = another_runtime();
    assert_non_null(lang);
    space = kvlang_space(lang);
    runs_to(vid, KVLANG_DONE);
    holds_i64("/out/a", 2);
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/out/b"));
    runs_to(start("f"), KVLANG_DONE);
    holds_i64("/out/b", 100);
}

static void single_steps_come_to_the_same_end(void **state) {
    (void)state;
    lay_out("rwfunc fib(n:int64) -> (r:int64) {\n\tif (n < 2) { n -> r } else {\n\t\tfib(n - 1) -> a\n\t\tfib(n - 2) -> b\n\t\ta + b -> r\n\t}\n}\n"
            "rwfunc main() -> () {\n\txs:[]int64 = []\n\tfor (i in range(0, 10)) {\n\t\tfib(i) -> f\n\t\tarray·append(xs, f) -> xs\n\t}\n\txs -> /out/xs\n}\n");
    uint64_t vid = start("main");
    enum kvlang_status status = KVLANG_INIT;
    unsigned steps = 0;
    for (; status != KVLANG_DONE && steps < 100000; steps++) lang_works(kvlang_run(lang, vid, 1, &status));
    assert_int_equal(KVLANG_DONE, status);
    assert_true(steps > 500);
    prints("/out/xs", "[0, 1, 1, 2, 3, 5, 8, 13, 21, 34]");
}

/* ---- leases ---- */

static void only_one_runs_it(void **state) {
    (void)state;
    struct runner runner;
    lay_out(endless);
    begin(&runner, "main");
    lang_gives(KVLANG_EBUSY, kvlang_run(lang, runner.vid, 0, NULL));
    lang_gives(KVLANG_EBUSY, kvlang_remove(lang, runner.vid));
    works(kvspace_set_i64(space, "/stop", 1));
    ends(&runner, KVLANG_DONE);
    lang_works(kvlang_remove(lang, runner.vid));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/vthread/1"));
}

static void the_dead_are_taken_over(void **state) {
    (void)state;
    lay_out("rwfunc main() -> () {\n\tfor (i in range(0, 3000)) { kv·incr(\"/hits\") -> _ }\n\t/hits -> /out/hits\n}\n");
    start("main");
    for (unsigned deaths = 1; deaths <= 5; deaths++) {
        pid_t child = in_child(run_first);
        until_i64("/hits", 100 * deaths);
        kill_child(child);
    }
    runs_to(1, KVLANG_DONE);
    holds_i64("/out/hits", 3000);
}

/* ---- waiting ---- */

static void waiting_in_a_ring_is_an_error(void **state) {
    (void)state;
    lay_out("rwfunc other(first:int64) -> () { vthread·wait(first) -> _ }\n"
            "rwfunc main() -> () {\n\tvthread·self() -> me\n\tvthread·spawn(\"other\", me) -> v\n\tvthread·wait(v) -> how\n\thow -> /out/how\n}\n"
            "rwfunc self() -> () {\n\tvthread·self() -> me\n\tvthread·wait(me) -> _\n}\n");
    runs_to(start("main"), KVLANG_DONE);
    holds_text("/out/how", "error"); /* the other one got the error, and so this one goes on */
    fails_with(start("self"), "RuntimeError", "wait for itself");
}

/* Each waits for the next: nothing recurses. */
static void a_long_chain_of_waits(void **state) {
    (void)state;
    lay_out("rwfunc link(n:int64) -> () {\n\tif (n > 0) {\n\t\tvthread·spawn(\"link\", n - 1) -> v\n\t\tvthread·wait(v) -> _\n\t}\n\tkv·incr(\"/ended\") -> _\n}\n");
    struct kvspace_value depth = kvspace_value_i64(3000);
    uint64_t vid;
    lang_works(kvlang_start(lang, "link", &depth, 1, &vid));
    runs_to(vid, KVLANG_DONE);
    holds_i64("/ended", 3001);
}

static void sleepers_can_be_paused_and_killed(void **state) {
    (void)state;
    struct runner runner;
    lay_out("rwfunc main() -> () { vthread·sleep(100000000) }\n");
    runner = (struct runner){.vid = start("main"), .rc = -1};
    assert_int_equal(0, pthread_create(&runner.thread, NULL, run_in_thread, &runner));
    enum kvlang_status status = KVLANG_INIT;
    for (unsigned i = 0; i < 10000 && status != KVLANG_WAIT; i++, sleep_ms(1)) lang_works(kvlang_status_of(lang, runner.vid, &status));
    lang_works(kvlang_pause(lang, runner.vid));
    ends(&runner, KVLANG_PAUSED);
    lang_works(kvlang_cancel(lang, runner.vid));
    fails_with(runner.vid, "RuntimeError", "killed");
}

/* 300 that sleep 30 ms each are asleep at once: one after the other would take the test's whole time. */
static void sleepers_sleep_at_once(void **state) {
    (void)state;
    lay_out("rwfunc nap() -> () {\n\tkv·incr(\"/begun\") -> n\n\tvthread·sleep(30)\n\tkv·incr(\"/ended\") -> _\n\t/ended -> m\n\tif (m == 1) { n -> _; /begun -> /out/begun }\n}\n"
            "rwfunc main() -> () {\n\tvids:[]int64 = []\n\tfor (i in range(0, 300)) {\n\t\tvthread·spawn(\"nap\") -> v\n\t\tarray·append(vids, v) -> vids\n\t}\n"
            "\tfor (v in vids) { vthread·wait(v) -> _ }\n}\n");
    runs_to(start("main"), KVLANG_DONE);
    holds_i64("/ended", 300);
    int64_t begun = 0;
    works(kvspace_get_i64(space, "/out/begun", &begun));
    assert_true(begun > 1); /* others had begun before the first one woke */
}

static void arguments_are_copies(void **state) {
    (void)state;
    lay_out("rwfunc change(m:any, xs:any) -> () {\n\tn = m\n\tys = xs\n\tn·a·b = 2\n\tarray·append(ys, 9) -> ys\n\tn -> /out/m\n\tys -> /out/xs\n}\n"
            "rwfunc main() -> () {\n\tm = {a={b=1}}\n\txs = [1]\n\tvthread·spawn(\"change\", m, xs) -> v\n\tm·a·b = 3\n\tarray·append(xs, 7) -> xs\n"
            "\tvthread·wait(v) -> _\n\tm -> /out/own\n\txs -> /out/mine\n}\n");
    runs_to(start("main"), KVLANG_DONE);
    prints("/out/m", "{a={b=2}}");
    prints("/out/xs", "[1, 9]");
    prints("/out/own", "{a={b=3}}");
    prints("/out/mine", "[1, 7]");
}

static void bad_arguments_make_nothing(void **state) {
    (void)state;
    lay_out("rwfunc f(n:int64) -> () { n -> _ }\nrwfunc none() -> () { vthread·spawn(\"nowhere\") -> _ }\n"
            "rwfunc wrong() -> () { name = \"f\"; vthread·spawn(name, \"text\") -> _ }\nrwfunc gone() -> () { vthread·wait(12345) -> _ }\n");
    fails_with(start("none"), "NameError", "nowhere");
    fails_with(start("wrong"), "TypeError", "int64");
    fails_with(start("gone"), "NameError", "12345");
    lists("/vthread", KVSPACE_LIST_CHILDREN, "/1 /2 /4"); /* a number was drawn for the one that did not come to be */
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_lang, close_lang)
    const struct CMUnitTest tests[] = {
        TEST(pause_stops_a_running_loop), TEST(kill_ends_a_running_loop), TEST(replaced_functions_are_called_at_once),
        TEST(breakpoints_stop_a_running_loop),
        TEST(edited_rows_are_called_at_once), TEST(a_frame_keeps_its_version), TEST(single_steps_come_to_the_same_end),
        TEST(only_one_runs_it), TEST(the_dead_are_taken_over), TEST(waiting_in_a_ring_is_an_error), TEST(a_long_chain_of_waits),
        TEST(sleepers_can_be_paused_and_killed), TEST(sleepers_sleep_at_once), TEST(arguments_are_copies), TEST(bad_arguments_make_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
