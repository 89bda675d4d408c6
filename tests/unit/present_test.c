/* Vthreads as keys: what is shown of one that stands still, what setting a key does to it, rows edited by hand, and reading while it
 * runs elsewhere. Relies on lang_fixture.h. Promises: every value is looked at through kvspace.h, as any process would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lang_fixture.h"

static const char nested[] =
    "struct Point { x:float64 = 0.0; y:float64 = 0.0 }\n"
    "rwfunc inner(k:int64) -> (r:int64) {\n"
    "\tk * 2 -> twice\n"
    "\ttwice + 1 -> r\n"
    "}\n"
    "rwfunc outer(n:int64) -> (r:int64) {\n"
    "\tname = \"Käthe\"\n"
    "\txs = [1, 2, 3]\n"
    "\tm = {a=1, b={c=2}}\n"
    "\tp = Point{x=1.5}\n"
    "\twhere = &n\n"
    "\tinner(n) -> r\n"
    "\tr -> /out/r\n"
    "}\n"
    "rwfunc main() -> () { outer(20) -> last; last -> /out/last }\n";

/* Steps until the counter is that text. */
static void step_to(uint64_t vid, const char *pc) {
    char text[256] = "";
    enum kvlang_status status;
    for (unsigned i = 0; i < 1000; i++) {
        gives(0, kvspace_get_text(space, "/vthread/1/‥pc", text, sizeof text, NULL));
        if (strcmp(text, pc) == 0) return;
        lang_works(kvlang_run(lang, vid, 1, &status));
        if (status != KVLANG_PAUSED) break;
    }
    fail_msg("the counter never stood at %s, but at %s", pc, text);
}

static void stop_in_inner(void) {
    lay_out(nested);
    step_to(start("main"), "/vthread/1/[1,0]/[7,0]/[2,0]");
}

static void frames_and_variables_are_keys(void **state) {
    (void)state;
    stop_in_inner();
    holds_text("/vthread/1/‥status", "paused");
    holds_text("/vthread/1/‥fn", "/lib/main");
    lists("/vthread/1", KVSPACE_LIST_CHILDREN, "/[1,0]");
    holds_i64("/vthread/1/[1,0]/n", 20);
    holds_text("/vthread/1/[1,0]/name", "Käthe");
    prints("/vthread/1/[1,0]/xs", "[1, 2, 3]");
    prints("/vthread/1/[1,0]/m·b·c", "2");
    prints("/vthread/1/[1,0]/p·x", "1.5");
    holds_text("/vthread/1/[1,0]/where", "/vthread/1/[1,0]/n");
    holds_i64("/vthread/1/[1,0]/[7,0]/k", 20);
    holds_i64("/vthread/1/[1,0]/[7,0]/twice", 40);
    lists("/vthread/1/[1,0]/[7,0]", KVSPACE_LIST_CHILDREN, "/k /twice"); /* no temporaries, nothing that is None */
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/vthread/1/[1,0]/[8,0]"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/vthread/1/[1,0]/nothing"));
}

static void variables_set_there_take_effect(void **state) {
    (void)state;
    stop_in_inner();
    works(kvspace_set_i64(space, "/vthread/1/[1,0]/[7,0]/twice", 1000));
    runs_to(1, KVLANG_DONE);
    holds_i64("/out/last", 1001);
}

static void every_type_can_be_set(void **state) {
    (void)state;
    stop_in_inner();
    static const char *const literals[] = {"{k=1, l={m=2}}", "[[1, 2], [3, 4]]", "\"text\"", "int8(-3)", "1.5", "true", "/out/target"};
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
        struct kvspace_problem problem = {0};
        if (kvspace_set_literal(space, "/vthread/1/[1,0]/name", literals[i], strlen(literals[i]), &problem))
            fail_msg("%s: %s %s", literals[i], problem.message, kvspace_message(space));
    }
    works(kvspace_set_i64(space, "/vthread/1/[1,0]/m·b·c", 77));
    works(kvspace_set_i64(space, "/vthread/1/[1,0]/m·new", 78));
    holds_i64("/vthread/1/[1,0]/m·b·c", 77);
    holds_i64("/vthread/1/[1,0]/m·new", 78);
    works(kvspace_set_f64(space, "/vthread/1/[1,0]/p·y", 2.5));
    prints("/vthread/1/[1,0]/p·y", "2.5");
    works(kvspace_del(space, "/vthread/1/[1,0]/m"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/vthread/1/[1,0]/m"));
    runs_to(1, KVLANG_DONE);
    holds_i64("/out/last", 41);
}

static void counter_set_there_takes_effect(void **state) {
    (void)state;
    stop_in_inner();
    gives(KVSPACE_EVALUE, kvspace_set_text(space, "/vthread/1/‥pc", "/vthread/1/[1,0]/[7,0]/[99,0]"));
    gives(KVSPACE_EVALUE, kvspace_set_text(space, "/vthread/1/‥pc", "/vthread/2/[1,0]"));
    gives(KVSPACE_EVALUE, kvspace_set_text(space, "/vthread/1/‥pc", "nonsense"));
    works(kvspace_set_text(space, "/vthread/1/‥pc", "/vthread/1/[1,0]/[7,0]/[1,0]")); /* once more from its first row */
    works(kvspace_set_i64(space, "/vthread/1/[1,0]/[7,0]/k", 7));
    runs_to(1, KVLANG_DONE);
    holds_i64("/out/last", 15);
}

static void counter_can_leave_a_frame(void **state) {
    (void)state;
    stop_in_inner();
    works(kvspace_set_i64(space, "/vthread/1/[1,0]/r", 5));
    works(kvspace_set_text(space, "/vthread/1/‥pc", "/vthread/1/[1,0]/[8,0]")); /* behind the call */
    lists("/vthread/1/[1,0]", KVSPACE_LIST_CHILDREN, "/n /r /name /xs /m /p /where");
    runs_to(1, KVLANG_DONE);
    holds_i64("/out/last", 5);
}

static void status_set_there_takes_effect(void **state) {
    (void)state;
    stop_in_inner();
    gives(KVSPACE_EVALUE, kvspace_set_text(space, "/vthread/1/‥status", "asleep"));
    works(kvspace_set_text(space, "/vthread/1/‥status", "wait"));
    lang_works(kvlang_serve(lang, NULL, 1)); /* a worker takes what waits */
    holds_text("/vthread/1/‥status", "done");
    works(kvspace_set_text(space, "/vthread/1/‥status", "killed")); /* too late: nothing happens */
    holds_text("/vthread/1/‥status", "done");
    uint64_t vid = start("main");
    works(kvspace_set_text(space, "/vthread/2/‥status", "killed"));
    fails_with(vid, "RuntimeError", "killed");
}

static void system_variables_are_read_only(void **state) {
    (void)state;
    stop_in_inner();
    gives(KVSPACE_EREADONLY, kvspace_set_i64(space, "/vthread/1/‥steps", 1));
    gives(KVSPACE_EREADONLY, kvspace_set_text(space, "/vthread/1/‥fn", "/lib/other"));
    gives(KVSPACE_ENOENT, kvspace_set_i64(space, "/vthread/1/[1,0]/nothing", 1));
    gives(KVSPACE_ENOENT, kvspace_set_i64(space, "/vthread/1/[9,0]/n", 1));
}

static void rows_edited_by_hand_run_as_edited(void **state) {
    (void)state;
    stop_in_inner(); /* it stands at row 2: twice + 1 */
    works(kvspace_set_i64(space, "/lib/inner/[2,-2]", 100));
    struct kvspace_value opcode = kvspace_value_word("opcode", "mul", 3);
    works(kvspace_set(space, "/lib/inner/[2,0]", &opcode));
    runs_to(1, KVLANG_DONE);
    holds_i64("/out/last", 4000);
    works(kvspace_set_i64(space, "/lib/inner/[2,-2]", 3)); /* and new calls, also of who had it decoded */
    runs_to(start("main"), KVLANG_DONE);
    holds_i64("/out/last", 120);
}

static void rows_made_by_hand_run(void **state) {
    (void)state;
    static const struct {
        const char *key, *literal;
    } rows[] = {
        {"/lib/hand", "rwfunc(1,1,0,4)"}, {"/lib/hand/[0,-1]", "param(n:int64)"}, {"/lib/hand/[0,1]", "param(r:int64)"},
        {"/lib/hand/[1,0]", "opcode(set)"}, {"/lib/hand/[1,-1]", "0"}, {"/lib/hand/[1,1]", "name(r)"},
        {"/lib/hand/[2,0]", "opcode(add)"}, {"/lib/hand/[2,-1]", "name(r)"}, {"/lib/hand/[2,-2]", "name(n)"}, {"/lib/hand/[2,1]", "name(r)"},
        {"/lib/hand/[3,0]", "opcode(set)"}, {"/lib/hand/[3,-1]", "name(r)"}, {"/lib/hand/[3,1]", "/out/hand"},
        {"/lib/hand/[4,0]", "opcode(return)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) works(kvspace_set_literal(space, rows[i].key, rows[i].literal, strlen(rows[i].literal), NULL));
    struct kvspace_value argument = kvspace_value_i64(41);
    uint64_t vid;
    lang_works(kvlang_start(lang, "hand", &argument, 1, &vid));
    runs_to(vid, KVLANG_DONE);
    holds_i64("/out/hand", 41);
    /* Damaged rows are errors of the program. */
    static const struct {
        const char *key, *literal, *part;
    } damaged[] = {
        {"/lib/hand/[2,0]", "opcode(no·such)", "no·such"}, {"/lib/hand/[2,0]", "7", "opcode"}, {"/lib/hand/[2,0]", "opcode(br)", "br"},
        {"/lib/hand/[2,0]", "opcode(goto)", "goto"}, {"/lib/hand/[2,0]", "opcode(next)", "next"}, {"/lib/hand/[0,-1]", "7", "signature"},
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        works(kvspace_set_literal(space, damaged[i].key, damaged[i].literal, strlen(damaged[i].literal), NULL));
        enum kvlang_status status = KVLANG_FAILED;
        if (kvlang_start(lang, "hand", &argument, 1, &vid) == 0) lang_works(kvlang_run(lang, vid, 0, &status));
        assert_int_equal(KVLANG_FAILED, status);
    }
}

/* ---- a dead one ---- */

static void the_dead_show_how_they_stood(void **state) {
    (void)state;
    lay_out("rwfunc main() -> () {\n\t0 -> i\n\tname = \"kept\"\n\twhile (i < 1000000000000) {\n\t\ti + 1 -> i\n\t\ti -> /beat\n\t}\n\ti -> /out/i\n}\n");
    start("main");
    pid_t child = in_child(run_first);
    until_i64("/beat", 10);
    holds_text("/vthread/1/‥status", "running");
    gives(KVSPACE_EBUSY, kvspace_set_i64(space, "/vthread/1/i", 3)); /* who runs is not written into */
    lang_gives(KVLANG_EBUSY, kvlang_run(lang, 1, 0, NULL));
    lang_gives(KVLANG_EBUSY, kvlang_remove(lang, 1));
    kill_child(child);
    holds_text("/vthread/1/‥status", "wait");
    holds_text("/vthread/1/name", "kept");
    int64_t beat = 0, i = 0;
    works(kvspace_get_i64(space, "/beat", &beat));
    works(kvspace_get_i64(space, "/vthread/1/i", &i));
    assert_true(i == beat || i == beat + 1);
    works(kvspace_set_i64(space, "/vthread/1/i", INT64_C(999999999990)));
    runs_to(1, KVLANG_DONE);
    holds_i64("/out/i", INT64_C(1000000000000));
}

/* ---- reading while it runs ---- */

static void *run_in_thread(void *context) {
    kvlang *own = another_runtime();
    (void)context;
    if (!own) return NULL;
    kvlang_run(own, 1, 0, NULL);
    kvlang_close(own);
    return own;
}

/* The arrays and texts of the loop are equal throughout; half-written ones would not be. */
static void reads_are_consistent_while_it_runs(void **state) {
    (void)state;
    lay_out("rwfunc same(i:int64) -> (xs:[]int64) { [i, i, i, i, i, i, i, i] -> xs }\n"
            "rwfunc main() -> () {\n\t0 -> i\n\twhile (/stop == None) {\n\t\ti + 1 -> i\n\t\tsame(i) -> xs\n\t\tm = {a=xs, b=i}\n"
            "\t\tstring·repeat(string·formatint(i % 10), 40) -> s\n\t}\n\txs -> /out/xs\n}\n");
    start("main");
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, run_in_thread, NULL));
    unsigned seen = 0;
    for (unsigned tries = 0; seen < 300 && tries < 100000; tries++) {
        struct kvspace_value value;
        const char *key = tries % 3 == 0 ? "/vthread/1/xs" : tries % 3 == 1 ? "/vthread/1/m·a" : "/vthread/1/s";
        int rc = kvspace_get(space, key, &value);
        if (rc == KVSPACE_ENOENT || rc == KVSPACE_EBUSY) continue;
        works(rc);
        size_t size = kvspace_kind_bytes(value.kind);
        assert_true(value.body_bytes == (tries % 3 == 2 ? 40 : 8) * size);
        for (size_t at = size; at < value.body_bytes; at += size) assert_true(memcmp(value.body, (const char *)value.body + at, size) == 0);
        seen++;
    }
    works(kvspace_set_i64(space, "/stop", 1));
    void *ran = NULL;
    pthread_join(thread, &ran);
    assert_non_null(ran);
    assert_true(seen == 300);
    holds_text("/vthread/1/‥status", "done");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_lang, close_lang)
    const struct CMUnitTest tests[] = {
        TEST(frames_and_variables_are_keys),  TEST(variables_set_there_take_effect), TEST(every_type_can_be_set),
        TEST(counter_set_there_takes_effect), TEST(counter_can_leave_a_frame),       TEST(status_set_there_takes_effect),
        TEST(system_variables_are_read_only), TEST(rows_edited_by_hand_run_as_edited), TEST(rows_made_by_hand_run),
        TEST(the_dead_show_how_they_stood),   TEST(reads_are_consistent_while_it_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
