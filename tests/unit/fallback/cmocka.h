/* A small stand-in for cmocka, for builds that have none (cross builds, a machine without the package).
 * Only what our unit tests use: groups with fixtures, the common assertions, skip and fail. Same names, same meaning,
 * the same lines of output. Relies on setjmp: a failed assertion leaves its test at once. One header, one user each. */
#ifndef KVLANG_TESTS_FALLBACK_CMOCKA_H
#define KVLANG_TESTS_FALLBACK_CMOCKA_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uintmax_t LargestIntegralType;
typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
    const char *name;
    CMUnitTestFunction test_func;
    CMFixtureFunction setup_func;
    CMFixtureFunction teardown_func;
    void *initial_state;
};

enum cmocka_outcome { CMOCKA_RUNNING, CMOCKA_FAILED, CMOCKA_SKIPPED };

static jmp_buf cmocka_leave;
static enum cmocka_outcome cmocka_state;

#if defined(__GNUC__)
#define CMOCKA_PRINTF(text, first) __attribute__((format(printf, text, first), unused))
#define CMOCKA_UNUSED __attribute__((unused))
#else
#define CMOCKA_PRINTF(text, first)
#define CMOCKA_UNUSED
#endif

CMOCKA_PRINTF(1, 2) static void print_message(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

CMOCKA_PRINTF(1, 2) static void print_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

_Noreturn CMOCKA_UNUSED static void cmocka_exit_test(enum cmocka_outcome outcome, const char *file, int line) {
    if (outcome == CMOCKA_FAILED) print_error("[   LINE   ] --- %s:%d: error: Failure!\n", file, line);
    cmocka_state = outcome;
    longjmp(cmocka_leave, 1);
}

#define _fail(file, line) cmocka_exit_test(CMOCKA_FAILED, file, line)
#define fail() _fail(__FILE__, __LINE__)
#define skip() cmocka_exit_test(CMOCKA_SKIPPED, __FILE__, __LINE__)
#define fail_msg(...) (print_error("ERROR: " __VA_ARGS__), print_error("\n"), fail())

CMOCKA_UNUSED static void cmocka_true(int holds, const char *what, const char *file, int line) {
    if (holds) return;
    print_error("[  ERROR   ] --- %s\n", what);
    _fail(file, line);
}

CMOCKA_UNUSED static void cmocka_integers(uintmax_t left, uintmax_t right, int equal, const char *file, int line) {
    if ((left == right) == equal) return;
    print_error("[  ERROR   ] --- %#" PRIxMAX " %s %#" PRIxMAX "\n", left, equal ? "!=" : "==", right);
    _fail(file, line);
}

CMOCKA_UNUSED static void cmocka_range(uintmax_t value, uintmax_t low, uintmax_t high, int inside, const char *file,
                                       int line) {
    if ((value >= low && value <= high) == inside) return;
    print_error("[  ERROR   ] --- %" PRIuMAX " is %s the range %" PRIuMAX "-%" PRIuMAX "\n", value,
                inside ? "not within" : "within", low, high);
    _fail(file, line);
}

CMOCKA_UNUSED static void cmocka_strings(const char *left, const char *right, int equal, const char *file, int line) {
    if (left && right && (strcmp(left, right) == 0) == equal) return;
    print_error("[  ERROR   ] --- \"%s\" %s \"%s\"\n", left ? left : "(null)", equal ? "!=" : "==",
                right ? right : "(null)");
    _fail(file, line);
}

CMOCKA_UNUSED static void cmocka_memories(const void *left, const void *right, size_t size, int equal,
                                          const char *file, int line) {
    if ((memcmp(left, right, size) == 0) == equal) return;
    print_error("[  ERROR   ] --- %zu bytes are %s\n", size, equal ? "not the same" : "the same");
    _fail(file, line);
}

CMOCKA_UNUSED static void cmocka_floats(double left, double right, double epsilon, int equal, const char *file,
                                        int line) {
    double distance = left < right ? right - left : left - right;
    if ((left == right || distance <= epsilon) == equal) return;
    print_error("[  ERROR   ] --- %.17g %s %.17g\n", left, equal ? "!=" : "==", right);
    _fail(file, line);
}

#define cmocka_wide(value) ((uintmax_t)(value))
#define assert_true(c) cmocka_true((c) ? 1 : 0, #c, __FILE__, __LINE__)
#define assert_false(c) cmocka_true((c) ? 0 : 1, "!(" #c ")", __FILE__, __LINE__)
#define assert_return_code(rc, error) ((void)(error), cmocka_true((rc) >= 0, #rc " >= 0", __FILE__, __LINE__))
#define assert_non_null(p) cmocka_true((p) != NULL, #p " != NULL", __FILE__, __LINE__)
#define assert_null(p) cmocka_true((p) == NULL, #p " == NULL", __FILE__, __LINE__)
#define assert_ptr_equal(a, b) cmocka_true((const void *)(a) == (const void *)(b), #a " == " #b, __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b) cmocka_true((const void *)(a) != (const void *)(b), #a " != " #b, __FILE__, __LINE__)
#define assert_int_equal(a, b) cmocka_integers(cmocka_wide(a), cmocka_wide(b), 1, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) cmocka_integers(cmocka_wide(a), cmocka_wide(b), 0, __FILE__, __LINE__)
#define assert_float_equal(a, b, epsilon) \
    cmocka_floats((double)(a), (double)(b), (double)(epsilon), 1, __FILE__, __LINE__)
#define assert_float_not_equal(a, b, epsilon) \
    cmocka_floats((double)(a), (double)(b), (double)(epsilon), 0, __FILE__, __LINE__)
#define assert_string_equal(a, b) cmocka_strings((const char *)(a), (const char *)(b), 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) cmocka_strings((const char *)(a), (const char *)(b), 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) cmocka_memories(a, b, size, 1, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) cmocka_memories(a, b, size, 0, __FILE__, __LINE__)
#define assert_in_range(value, low, high) \
    cmocka_range(cmocka_wide(value), cmocka_wide(low), cmocka_wide(high), 1, __FILE__, __LINE__)
#define assert_not_in_range(value, low, high) \
    cmocka_range(cmocka_wide(value), cmocka_wide(low), cmocka_wide(high), 0, __FILE__, __LINE__)

#define cmocka_unit_test(f) {#f, f, NULL, NULL, NULL}
#define cmocka_unit_test_setup(f, setup) {#f, f, setup, NULL, NULL}
#define cmocka_unit_test_teardown(f, teardown) {#f, f, NULL, teardown, NULL}
#define cmocka_unit_test_setup_teardown(f, setup, teardown) {#f, f, setup, teardown, NULL}
#define cmocka_unit_test_prestate(f, state) {#f, f, NULL, NULL, state}
#define cmocka_unit_test_prestate_setup_teardown(f, setup, teardown, state) {#f, f, setup, teardown, state}

/* Runs one test with its fixtures. A teardown that fails makes a passed test fail, as cmocka has it. */
static enum cmocka_outcome cmocka_run_one(const struct CMUnitTest *test, void *group_state) {
    static void *state;
    state = test->initial_state ? test->initial_state : group_state;
    cmocka_state = CMOCKA_RUNNING;
    if (!setjmp(cmocka_leave)) {
        if (test->setup_func && test->setup_func(&state)) _fail(test->name, 0);
        test->test_func(&state);
    }
    static enum cmocka_outcome outcome; /* static: locals changed between setjmp and longjmp are indeterminate */
    outcome = cmocka_state;
    if (!setjmp(cmocka_leave)) {
        if (test->teardown_func && test->teardown_func(&state)) _fail(test->name, 0);
    } else if (outcome == CMOCKA_RUNNING) {
        outcome = CMOCKA_FAILED;
    }
    return outcome;
}

static int cmocka_run_group(const char *name, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
                            CMFixtureFunction teardown) {
    static const char *const words[] = {"       OK ", "  FAILED  ", " SKIPPED  "};
    void *state = NULL;
    int failed = 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    print_message("[==========] %s: Running %zu test(s).\n", name, count);
    if (setup && setup(&state)) {
        print_message("[  FAILED  ] GROUP SETUP\n");
        return (int)count;
    }
    for (size_t i = 0; i < count; i++) {
        print_message("[ RUN      ] %s\n", tests[i].name);
        enum cmocka_outcome outcome = cmocka_run_one(&tests[i], state);
        print_message("[%s] %s\n", words[outcome], tests[i].name);
        failed += outcome == CMOCKA_FAILED;
    }
    if (teardown && teardown(&state)) {
        print_message("[  FAILED  ] GROUP TEARDOWN\n");
        failed++;
    }
    print_message("[==========] %s: %zu test(s) run, %d failed.\n", name, count, failed);
    return failed;
}

#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
    cmocka_run_group(name, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run_group_tests_name(#tests, tests, setup, teardown)

#endif
