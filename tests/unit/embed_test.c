/* The embedding API of kvlang.h and opcodes written in C (ext.h): results, errors, steps, several runtimes, registering.
 * Relies on anonymous spaces. Promises: each test has a runtime of its own and leaves no space behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <kvlang/kvlang.h>

static int open_runtime(void **state) {
    kvlang *lang;
    char problem[256] = "";
    int rc = kvlang_open(&(struct kvlang_options){.problem = problem}, &lang);
    if (rc) print_error("%s\n", problem);
    *state = lang;
    return rc;
}

static int close_runtime(void **state) {
    kvlang_close(*state);
    return 0;
}

struct said {
    char text[4096];
};

static int hear(void *context, const char *bytes, size_t count) {
    struct said *said = context;
    size_t used = strlen(said->text);
    if (used + count < sizeof said->text) {
        memcpy(said->text + used, bytes, count);
        said->text[used + count] = '\0';
    }
    return 0;
}

static void lay_out(kvlang *lang, const char *text) {
    struct said said = {""};
    int rc = kvlang_lay_out(lang, "test.kv", text, 0, hear, &said);
    if (rc) fail_msg("%s\n%s", kvlang_message(lang), said.text);
}

/* Starts a function and runs it to its end, which must be `wanted`. */
static uint64_t run(kvlang *lang, const char *function, const struct kvspace_value *arguments, size_t count, enum kvlang_status wanted) {
    uint64_t vid = 0;
    enum kvlang_status status;
    if (kvlang_start(lang, function, arguments, count, &vid)) fail_msg("%s", kvlang_message(lang));
    if (kvlang_run(lang, vid, 0, &status)) fail_msg("%s", kvlang_message(lang));
    if (status != wanted) {
        char *text = NULL;
        if (status == KVLANG_FAILED) kvlang_failure_text(lang, vid, &text);
        fail_msg("%s: %s", kvlang_status_name(status), text ? text : "");
    }
    return vid;
}

/* ---- running ---- */

static void a_function_and_its_result(void **state) {
    kvlang *lang = *state;
    struct kvspace_value arguments[2] = {kvspace_value_i64(40), kvspace_value_i64(2)};
    int64_t sum;
    lay_out(lang, "rwfunc sum(a:int64, b:int64) -> (c:int64) { a + b -> c }");
    uint64_t vid = run(lang, "sum", arguments, 2, KVLANG_DONE);
    assert_int_equal(0, kvlang_result_i64(lang, vid, "c", &sum));
    assert_int_equal(42, sum);
    assert_int_equal(KVLANG_ENAME, kvlang_result_i64(lang, vid, "d", &sum));
    assert_int_equal(0, kvlang_remove(lang, vid));
    assert_int_equal(KVLANG_ENAME, kvlang_result_i64(lang, vid, "c", &sum));
}

static void values_of_many_kinds(void **state) {
    kvlang *lang = *state;
    double numbers[4] = {1.5, 2.5, -3.0, 0.25}, total;
    uint64_t dims[2] = {2, 2};
    struct kvspace_value arguments[2] = {kvspace_value_array(KVSPACE_FLOAT64, 2, dims, numbers), kvspace_value_utf8("gr\xc3\xbc\xc3\x9f", 6)};
    char *text;
    lay_out(lang, "rwfunc f(m:[2,2]float64, s:[]char/utf32) -> (t:float64, u:[]char/utf32, v:[]float64) {\n"
                  "    m[0, 0] + m[1, 1] -> t\n    s + \"!\" -> u\n    m[1] -> v\n}");
    uint64_t vid = run(lang, "f", arguments, 2, KVLANG_DONE);
    assert_int_equal(0, kvlang_result_f64(lang, vid, "t", &total));
    assert_true(total == 1.75);
    assert_int_equal(0, kvlang_result_text(lang, vid, "u", &text));
    assert_string_equal("gr\xc3\xbc\xc3\x9f!", text);
    free(text);
    struct kvspace_value row;
    assert_int_equal(0, kvlang_result(lang, vid, "v", &row));
    assert_int_equal(KVSPACE_FLOAT64, row.kind);
    assert_int_equal(2, row.dims[0]);
    assert_memory_equal(numbers + 2, row.body, 16);
    assert_int_equal(KVLANG_ETYPE, kvlang_result_i64(lang, vid, "u", &(int64_t){0}));
}

static void a_container_by_its_key(void **state) {
    kvlang *lang = *state;
    int64_t count;
    assert_int_equal(0, kvspace_set_literal(kvlang_space(lang), "/input", "{a=1; b=2; c=3}", 15, NULL));
    struct kvspace_value argument = kvspace_value_pointer("/input");
    lay_out(lang, "rwfunc f(m:[]char/utf8·any) -> (n:int64) { for (v in m) { if (n == None) { v -> n } else { n + v -> n } } }");
    uint64_t vid = run(lang, "f", &argument, 1, KVLANG_DONE);
    assert_int_equal(0, kvlang_result_i64(lang, vid, "n", &count));
    assert_int_equal(6, count);
}

static void arguments_that_do_not_fit(void **state) {
    kvlang *lang = *state;
    struct kvspace_value number = kvspace_value_i64(1), text = kvspace_value_utf8("x", 1);
    const char *const texts[] = {"12", "[1, 2]"};
    uint64_t vid;
    lay_out(lang, "rwfunc f(a:int64, xs:[]int64) -> (r:int64) { a + xs[1] -> r }");
    assert_int_equal(KVLANG_ETYPE, kvlang_start(lang, "f", &number, 1, &vid));
    assert_non_null(strstr(kvlang_message(lang), "f"));
    assert_int_equal(KVLANG_ETYPE, kvlang_start(lang, "f", (struct kvspace_value[]){text, number}, 2, &vid));
    assert_int_equal(KVLANG_ENAME, kvlang_start(lang, "g", &number, 1, &vid));
    assert_int_equal(0, kvlang_start_texts(lang, "f", texts, 2, &vid));
    assert_int_equal(0, kvlang_run(lang, vid, 0, NULL));
    int64_t result;
    assert_int_equal(0, kvlang_result_i64(lang, vid, "r", &result));
    assert_int_equal(14, result);
    assert_int_equal(KVLANG_ETYPE, kvlang_start_texts(lang, "f", (const char *const[]){"x", "[1]"}, 2, &vid));
}

static void a_number_of_steps(void **state) {
    kvlang *lang = *state;
    uint64_t vid, turns = 0;
    enum kvlang_status status;
    int64_t sum;
    lay_out(lang, "rwfunc f() -> (s:int64) { 0 -> s\n for (i in range(10)) { s + i -> s } }");
    assert_int_equal(0, kvlang_start(lang, "f", NULL, 0, &vid));
    assert_int_equal(0, kvlang_status_of(lang, vid, &status));
    assert_int_equal(KVLANG_INIT, status);
    do {
        assert_int_equal(0, kvlang_run(lang, vid, 1, &status));
        turns++;
    } while (status == KVLANG_PAUSED && turns < 1000);
    assert_int_equal(KVLANG_DONE, status);
    assert_true(turns > 20);
    assert_int_equal(0, kvlang_result_i64(lang, vid, "s", &sum));
    assert_int_equal(45, sum);
}

static void errors(void **state) {
    kvlang *lang = *state;
    struct kvlang_failure failure;
    struct said said = {""};
    char *text;
    assert_int_equal(KVLANG_ESOURCE, kvlang_lay_out(lang, "bad.kv", "x = = 1", 0, hear, &said));
    assert_non_null(strstr(said.text, "bad.kv:1:5: error: SyntaxError"));
    lay_out(lang, "rwfunc inner(n:int64) -> (r:int64) {\n    10 ÷ n -> r\n}\nrwfunc outer(n:int64) -> (r:int64) {\n    inner(n) + 1 -> r\n}");
    struct kvspace_value zero = kvspace_value_i64(0), one = kvspace_value_i64(1);
    uint64_t vid = run(lang, "outer", &zero, 1, KVLANG_FAILED);
    assert_int_equal(0, kvlang_failure_of(lang, vid, &failure));
    assert_string_equal("ZeroDivisionError", failure.kind);
    assert_string_equal("test.kv:2:8", failure.place);
    assert_string_equal("test.kv", failure.file);
    assert_int_equal(2, failure.line);
    assert_int_equal(8, failure.column);
    assert_string_equal("  at outer (test.kv:5)\n  at inner (test.kv:2)\n", failure.chain);
    assert_int_equal(0, kvlang_failure_text(lang, vid, &text));
    assert_non_null(strstr(text, "\n        10 ÷ n -> r\n           ^\n"));
    free(text);
    vid = run(lang, "outer", &one, 1, KVLANG_DONE);
    assert_int_equal(KVLANG_EUSAGE, kvlang_failure_of(lang, vid, &failure));
    assert_int_equal(KVLANG_ENAME, kvlang_failure_of(lang, 999, &failure));
    assert_int_equal(KVLANG_ENAME, kvlang_run(lang, 999, 0, NULL));
}

static void entries(void **state) {
    kvlang *lang = *state;
    const char *path;
    lay_out(lang, "rwfunc main() -> () { }\nrwfunc other() -> () { }");
    assert_int_equal(0, kvlang_entry(lang, NULL, &path));
    assert_string_equal("/lib/main", path);
    assert_int_equal(0, kvlang_entry(lang, "other", &path));
    assert_string_equal("/lib/other", path);
    lay_out(lang, "rwfunc other() -> () { }");
    assert_int_equal(KVLANG_ENAME, kvlang_entry(lang, NULL, &path));
    assert_non_null(strstr(kvlang_message(lang), "other"));
}

static void count_failures(void *context, kvlang *lang, uint64_t vid) {
    struct kvlang_failure failure;
    assert_int_equal(0, kvlang_failure_of(lang, vid, &failure));
    assert_string_equal("lost", failure.message);
    ++*(int *)context;
}

static void spawned_vthreads(void **state) {
    kvlang *lang = *state;
    int failures = 0;
    kvlang_on_failure(lang, count_failures, &failures);
    lay_out(lang, "rwfunc work() -> () { error(\"lost\") }\nrwfunc f() -> () { vthread·spawn(\"work\") -> _\n vthread·spawn(\"work\") -> _ }");
    run(lang, "f", NULL, 0, KVLANG_DONE);
    assert_int_equal(0, kvlang_run_spawned(lang));
    assert_int_equal(2, failures);
}

static void two_runtimes_on_one_space(void **state) {
    kvlang *lang = *state, *other;
    uint64_t vid;
    enum kvlang_status status;
    int64_t sum;
    lay_out(lang, "rwfunc f(n:int64) -> (s:int64) { 0 -> s\n for (i in range(n)) { s + i -> s } }");
    struct kvspace_value many = kvspace_value_i64(1000);
    assert_int_equal(0, kvlang_start(lang, "f", &many, 1, &vid));
    assert_int_equal(0, kvlang_run(lang, vid, 100, &status));
    assert_int_equal(KVLANG_PAUSED, status);
    assert_int_equal(0, kvlang_open(&(struct kvlang_options){.dsn = kvspace_dsn(kvlang_space(lang))}, &other));
    assert_int_equal(0, kvlang_run(other, vid, 0, &status));
    assert_int_equal(KVLANG_DONE, status);
    assert_int_equal(0, kvlang_result_i64(lang, vid, "s", &sum));
    assert_int_equal(499500, sum);
    kvlang_close(other);
}

static void a_space_of_the_hosts(void **state) {
    (void)state;
    kvspace *space;
    kvlang *lang;
    int64_t number;
    assert_int_equal(0, kvspace_open(NULL, &space));
    assert_int_equal(0, kvlang_open(&(struct kvlang_options){.space = space}, &lang));
    assert_ptr_equal(space, kvlang_space(lang));
    lay_out(lang, "rwfunc f() -> () { /here = 3 }");
    run(lang, "f", NULL, 0, KVLANG_DONE);
    kvlang_close(lang);
    assert_int_equal(0, kvspace_get_i64(space, "/here", &number));
    assert_int_equal(3, number);
    kvspace_close(space);
}

static void opening_what_cannot_be_opened(void **state) {
    (void)state;
    kvlang *lang = NULL;
    char problem[256] = "";
    assert_int_equal(KVLANG_ESPACE, kvlang_open(&(struct kvlang_options){.dsn = "/nowhere/at/all", .problem = problem}, &lang));
    assert_null(lang);
    assert_true(problem[0] != '\0');
    kvlang_close(NULL);
}

static void bare(void **state) {
    (void)state;
    kvlang *lang;
    struct said said = {""};
    assert_int_equal(0, kvlang_open(&(struct kvlang_options){.bare = 1}, &lang));
    assert_int_equal(KVLANG_ESOURCE, kvlang_lay_out(lang, "a.kv", "println(1)", 0, hear, &said));
    assert_non_null(strstr(said.text, "NameError"));
    lay_out(lang, "rwfunc f() -> (n:int64) { string·len(\"abc\") -> n }");
    run(lang, "f", NULL, 0, KVLANG_DONE);
    kvlang_close(lang);
}

/* ---- opcodes in C ---- */

static int shout(kvlang_call *call) {
    const char *text;
    size_t bytes;
    int rc = kvlang_arg_text(call, 0, &text, &bytes);
    if (rc) return rc;
    char loud[64];
    if (bytes + 1 > sizeof loud) return kvlang_raise(call, "ValueError", "%zu bytes are too loud", bytes);
    for (size_t i = 0; i < bytes; i++) loud[i] = text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 'a' + 'A') : text[i];
    loud[bytes] = '!';
    return kvlang_give_text(call, 0, loud, bytes + 1);
}

static int scale(kvlang_call *call) {
    struct kvlang_array from;
    double factor;
    void *body;
    int rc = kvlang_arg_array(call, 0, &from);
    if (!rc) rc = kvlang_arg_f64(call, 1, &factor);
    if (!rc) rc = kvlang_give_array(call, 0, from.kind, from.ndim, from.dims, &body);
    if (rc) return rc;
    const double *numbers = from.body;
    double *scaled = body;
    for (uint64_t i = 0; i < from.count; i++) scaled[i] = numbers[i] * factor;
    return 0;
}

static int divide(kvlang_call *call) {
    int64_t a, b;
    int rc = kvlang_arg_i64(call, 0, &a);
    if (!rc) rc = kvlang_arg_i64(call, 1, &b);
    if (rc) return rc;
    if (!b) return kvlang_raise(call, "ZeroDivisionError", "%lld by nothing", (long long)a);
    rc = kvlang_give_i64(call, 0, a / b);
    return rc ? rc : kvlang_give_i64(call, 1, a % b);
}

static int count_all(kvlang_call *call) {
    int *calls = kvlang_call_host(call);
    ++*calls;
    return kvlang_give_i64(call, 0, (int64_t)kvlang_arg_count(call));
}

static int token(kvlang_call *call) {
    uint64_t first = kvlang_call_token(call);
    return kvlang_give_u64(call, 0, first == kvlang_call_token(call) ? first : 0);
}

static int lies(kvlang_call *call) {
    return kvlang_give_text(call, 0, "no number", 9);
}

static const kvlang_cap myrwircaps[] = {
    {"string·shout", "s:[]char/utf32", "r:[]char/utf32", shout, "Upper-case with an exclamation mark."},
    {"my·scale", "v:[*]float64, by:float64", "r:[*]float64", scale, NULL},
    {"my·divide", "a:int64, b:int64", "q:int64, r:int64", divide, NULL},
    {"my·count", "xs:any...", "n:int64", count_all, NULL},
    {"my·token", "", "t:uint64", token, NULL},
    {"my·lies", "", "n:int64", lies, NULL},
};
enum { CAPS = sizeof myrwircaps / sizeof *myrwircaps };

static void opcodes_in_c(void **state) {
    kvlang *lang = *state;
    int calls = 0;
    int64_t number;
    double real;
    char *text;
    assert_int_equal(0, kvlang_add_caps(lang, "test", myrwircaps, CAPS, &calls));
    assert_int_equal(0, kvspace_exists(kvlang_space(lang), "/lib/string·shout"));
    lay_out(lang, "rwfunc f() -> (s:[]char/utf32, q:int64, r:int64, n:int64, x:float64) {\n"
                  "    string·shout(\"hi\") -> s\n    my·divide(17, 5) -> q, r\n    my·count(1, \"a\", None) + my·count() -> n\n"
                  "    v:[2,2]float64 = [[1, 2], [3, 4]]\n    my·scale(v, 2.5) -> w\n    w[1, 1] -> x\n}");
    uint64_t vid = run(lang, "f", NULL, 0, KVLANG_DONE);
    assert_int_equal(0, kvlang_result_text(lang, vid, "s", &text));
    assert_string_equal("HI!", text);
    free(text);
    assert_int_equal(0, kvlang_result_i64(lang, vid, "q", &number));
    assert_int_equal(3, number);
    assert_int_equal(0, kvlang_result_i64(lang, vid, "r", &number));
    assert_int_equal(2, number);
    assert_int_equal(0, kvlang_result_i64(lang, vid, "n", &number));
    assert_int_equal(3, number);
    assert_int_equal(0, kvlang_result_f64(lang, vid, "x", &real));
    assert_true(real == 10.0);
    assert_int_equal(2, calls);
}

static void fails_with(kvlang *lang, const char *source, const char *kind, const char *part) {
    struct kvlang_failure failure;
    lay_out(lang, source);
    uint64_t vid = run(lang, "f", NULL, 0, KVLANG_FAILED);
    assert_int_equal(0, kvlang_failure_of(lang, vid, &failure));
    assert_string_equal(kind, failure.kind);
    if (!strstr(failure.message, part)) fail_msg("%s", failure.message);
}

static void opcodes_that_fail(void **state) {
    kvlang *lang = *state;
    int calls = 0;
    assert_int_equal(0, kvlang_add_caps(lang, "test", myrwircaps, CAPS, &calls));
    fails_with(lang, "rwfunc f() -> () { my·divide(1, 0) }", "ZeroDivisionError", "1 by nothing");
    fails_with(lang, "rwfunc f() -> () { string·shout(string·repeat(\"a\", 100)) }", "ValueError", "too loud");
    fails_with(lang, "rwfunc g() -> (x:any) { 1.5 -> x }\nrwfunc f() -> () { my·divide(g(), 1) }", "TypeError", "my·divide: a is int64, not float64");
    fails_with(lang, "rwfunc f() -> () { my·lies() }", "RuntimeError", "not int64");
}

static void a_token_for_each_call(void **state) {
    kvlang *lang = *state;
    int64_t different;
    assert_int_equal(0, kvlang_add_caps(lang, "test", myrwircaps, CAPS, NULL));
    lay_out(lang, "rwfunc g() -> (t:uint64) { my·token() -> t }\n"
                  "rwfunc f() -> (n:int64) { seen:[uint64]·bool = {}\n for (i in range(50)) { seen[my·token()] = true\n seen[g()] = true }\n map·len(seen) -> n }");
    uint64_t vid = run(lang, "f", NULL, 0, KVLANG_DONE);
    assert_int_equal(0, kvlang_result_i64(lang, vid, "n", &different));
    assert_int_equal(100, different);
}

static int add_one(kvlang_call *call) {
    return kvlang_give_i64(call, 0, 1);
}

static void registering_twice(void **state) {
    kvlang *lang = *state, *other;
    static const kvlang_cap same[] = {{"my·one", "a:int64", "r:int64", add_one, NULL}};
    static const kvlang_cap different[] = {{"my·one", "a:float64", "r:int64", add_one, NULL}};
    static const kvlang_cap broken[] = {{"my·two", "a:[int64", "r:int64", add_one, NULL}};
    assert_int_equal(0, kvlang_add_caps(lang, "first", same, 1, NULL));
    assert_int_equal(0, kvlang_open(&(struct kvlang_options){.dsn = kvspace_dsn(kvlang_space(lang))}, &other));
    assert_int_equal(0, kvlang_add_caps(other, "second", same, 1, NULL));
    assert_int_equal(KVLANG_ECONFLICT, kvlang_add_caps(other, "third", different, 1, NULL));
    assert_non_null(strstr(kvlang_message(other), "(a:float64) -> (r:int64)"));
    assert_non_null(strstr(kvlang_message(other), "(a:int64) -> (r:int64)"));
    assert_int_equal(KVLANG_ETYPE, kvlang_add_caps(other, "fourth", broken, 1, NULL));
    kvlang_close(other);
}

static int find_opcode(void *context, const struct kvlang_opcode *opcode) {
    if (strcmp(opcode->name, "my·divide") == 0 && strcmp(opcode->signature, "(a:int64, b:int64) -> (q:int64, r:int64)") == 0) ++*(int *)context;
    if (strcmp(opcode->name, "println") == 0 && strcmp(opcode->owner, "std") == 0) ++*(int *)context;
    if (strcmp(opcode->name, "string·len") == 0 && strcmp(opcode->owner, "core") == 0) ++*(int *)context;
    return 0;
}

static void listing_opcodes(void **state) {
    kvlang *lang = *state;
    int found = 0;
    assert_int_equal(0, kvlang_add_caps(lang, "test", myrwircaps, CAPS, NULL));
    assert_int_equal(0, kvlang_opcodes(lang, find_opcode, &found));
    assert_int_equal(3, found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_function_and_its_result, open_runtime, close_runtime),
        cmocka_unit_test_setup_teardown(values_of_many_kinds, open_runtime, close_runtime),
        cmocka_unit_test_setup_teardown(a_container_by_its_key, open_runtime, close_runtime),
        cmocka_unit_test_setup_teardown(arguments_that_do_not_fit, open_runtime, close_runtime),
        cmocka_unit_test_setup_teardown(a_number_of_steps, open_runtime, close_runtime),
        cmocka_unit_test_setup_teardown(errors, open_runtime, close_runtime),
        cmocka_unit_test_setup_teardown(entries, open_runtime, close_runtime),
        cmocka_unit_test_setup_teardown(spawned_vthreads, open_runtime, close_runtime),
        cmocka_unit_test_setup_teardown(two_runtimes_on_one_space, open_runtime, close_runtime),
        cmocka_unit_test(a_space_of_the_hosts),
        cmocka_unit_test(opening_what_cannot_be_opened),
        cmocka_unit_test(bare),
        cmocka_unit_test_setup_teardown(opcodes_in_c, open_runtime, close_runtime),
        cmocka_unit_test_setup_teardown(opcodes_that_fail, open_runtime, close_runtime),
        cmocka_unit_test_setup_teardown(a_token_for_each_call, open_runtime, close_runtime),
        cmocka_unit_test_setup_teardown(registering_twice, open_runtime, close_runtime),
        cmocka_unit_test_setup_teardown(listing_opcodes, open_runtime, close_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
