/* Death at every step: a child does one operation and is killed at mark 1, 2, 3 … of the engine (kvspace/fault.h), a second child is
 * killed in the middle of recovering it, then the space is opened, checked, and holds the state before or the state after. And every
 * allocation fails in turn: the operation has not happened. Needs a build with marks (not a release build).
 * Relies on cmocka, fork. KVSPACE_DEATH_ALL=1 visits every mark; without it each operation begins at another and leaves some out,
 * since a test must end in a minute. Promises: the table below names every operation that changes a tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kvspace/fault.h"
#include "space_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#define DOT "\xc2\xb7"

enum { MARKS_MAX = 4000, STATE_MAX = 1 << 16, CHILD_S = 60 };

static char text_small[600], text_big[90000];
static struct kvspace_value small_value, big_value;

static int open_it(void) {
    struct kvspace_open_options options = {.limit_bytes = 16 << 20};
    return kvspace_open_with(fixture_dsn, &options, &space);
}

/* ---- operations ---- */

static int set_new_scalar(void) { return kvspace_set_i64(space, "/t/new", 7); }
static int set_new_text(void) { return kvspace_set(space, "/t/new", &small_value); }
static int set_new_big(void) { return kvspace_set(space, "/t/new", &big_value); }
static int set_new_deep(void) { return kvspace_set(space, "/t/n1/n2/n3" DOT "n4", &small_value); }
static int set_old_scalar(void) { return kvspace_set_i64(space, "/t/i", 8); }
static int set_old_text(void) { return kvspace_set(space, "/t/text", &small_value); }
static int set_big_over_big(void) { return kvspace_set(space, "/t/big", &big_value); }
static int set_scalar_over_text(void) { return kvspace_set_i64(space, "/t/text", 9); }
static int set_scalar_over_container(void) { return kvspace_set_i64(space, "/t/box", 9); }
static int set_none(void) { return kvspace_set(space, "/t/box", NULL); }
static int set_body(void) { return kvspace_set_body(space, "/t/six", "SIXSIX", 6); }
static int set_literal(void) { return kvspace_set_literal(space, "/t/lit", "{a=1,b={c=\"x\",d=[1,2]}}", 23, NULL); }
static int set_literal_over(void) { return kvspace_set_literal(space, "/t/box", "{z=1,y=\"text\"}", 14, NULL); }
static int make_index(void) { return kvspace_mkindex(space, "/t/box", "[int64]" DOT "any"); }
static int del_scalar(void) { return kvspace_del(space, "/t/i"); }
static int del_big(void) { return kvspace_del(space, "/t/big"); }
static int del_box(void) { return kvspace_del(space, "/t/box"); }
static int del_subtree(void) { return kvspace_del(space, "/t/sub"); }
static int del_last(void) { return kvspace_del(space, "/t/lone/some/key"); }
static int del_member(void) { return kvspace_del(space, "/t/box" DOT "a"); }
static int copy_value(void) { return kvspace_cp(space, "/t/text", "/t/copy"); }
static int copy_box(void) { return kvspace_cp(space, "/t/box", "/t/text"); }
static int copy_tree(void) { return kvspace_cp_tree(space, "/t/sub", "/t/box"); }
static int move_to_new(void) { return kvspace_replace(space, "/t/sub", "/t/moved/to", NULL); }
static int move_over(void) { return kvspace_replace(space, "/t/sub", "/t/box", NULL); }
static int move_keep_old(void) { return kvspace_replace(space, "/t/sub", "/t/box", "/t/kept/old"); }
static int move_within(void) { return kvspace_replace(space, "/t/i", "/t/text", NULL); }
static int change_if(void) {
    struct kvspace_value before = kvspace_value_i64(1);
    return kvspace_cas(space, "/t/i", &before, &small_value);
}
static int add(void) { return kvspace_incr(space, "/t/i", 5, NULL); }
static int add_new(void) { return kvspace_incr(space, "/t/counter", 5, NULL); }
static int overlay(void) { return kvspace_extindex(space, "/t/over", "/t/box"); }
static int overlay_write(void) { return kvspace_set_i64(space, "/t/layer" DOT "a", 77); }
static int overlay_hide(void) { return kvspace_del(space, "/t/layer" DOT "a"); }
static int overlay_end(void) { return kvspace_rmindexext(space, "/t/layer"); }
static int grow_table(void) { return kvspace_set_i64(space, "/t/full/k8", 1); }
static int slot_set(void) {
    struct kvspace_slot slot;
    int rc = kvspace_slot_open(space, "/t/text", KVSPACE_SLOT_EXISTING, &slot);
    return rc ? rc : kvspace_slot_set(&slot, &big_value);
}
static int write_in_place(void) {
    struct kvspace_write write;
    int rc = kvspace_write_begin(space, "/t/text", &big_value, &write);
    if (rc) return rc;
    memcpy(write.body, text_big, sizeof text_big);
    return kvspace_write_publish(&write);
}
static int borrow(void) {
    struct kvspace_value value;
    int rc = kvspace_read_begin(space);
    for (int i = 0; i < 70 && !rc; i++) rc = kvspace_get(space, i % 2 ? "/t/big" : "/t/text2k", &value);
    return rc ? rc : kvspace_read_end(space);
}

static const struct operation {
    const char *name;
    int (*run)(void);
} operations[] = {
#define OPERATION(name) {#name, name}
    OPERATION(set_new_scalar), OPERATION(set_new_text), OPERATION(set_new_big), OPERATION(set_new_deep), OPERATION(set_old_scalar),
    OPERATION(set_old_text), OPERATION(set_big_over_big), OPERATION(set_scalar_over_text), OPERATION(set_scalar_over_container),
    OPERATION(set_none), OPERATION(set_body), OPERATION(set_literal), OPERATION(set_literal_over), OPERATION(make_index),
    OPERATION(del_scalar), OPERATION(del_big), OPERATION(del_box), OPERATION(del_subtree), OPERATION(del_last), OPERATION(del_member),
    OPERATION(copy_value), OPERATION(copy_box), OPERATION(copy_tree), OPERATION(move_to_new), OPERATION(move_over),
    OPERATION(move_keep_old), OPERATION(move_within), OPERATION(change_if), OPERATION(add), OPERATION(add_new), OPERATION(overlay),
    OPERATION(overlay_write), OPERATION(overlay_hide), OPERATION(overlay_end), OPERATION(grow_table), OPERATION(slot_set),
    OPERATION(write_in_place), OPERATION(borrow),
};

/* ---- states ---- */

static void populate(void) {
    char key[100];
    works(kvspace_set_i64(space, "/t/i", 1));
    works(kvspace_set_text(space, "/t/text", "a text that stands in a block"));
    works(kvspace_set_text(space, "/t/six", "sixsix"));
    struct kvspace_value longer = kvspace_value_utf8(text_big, 2000);
    works(kvspace_set(space, "/t/text2k", &longer));
    works(kvspace_set(space, "/t/big", &big_value));
    works(kvspace_set_literal(space, "/t/box", "{a=1,b=\"two\",c={d=3}}", 21, NULL));
    works(kvspace_extindex(space, "/t/layer", "/t/box"));
    works(kvspace_set_i64(space, "/t/layer" DOT "b", 5));
    for (int i = 0; i < 8; i++) {
        snprintf(key, sizeof key, "/t/full/k%d", i);
        works(kvspace_set_i64(space, key, i));
        snprintf(key, sizeof key, "/t/sub/a%d/b", i % 3);
        works(kvspace_set(space, key, &small_value));
        snprintf(key, sizeof key, "/t/sub/a%d" DOT "m%d", i % 3, i);
        works(kvspace_set_i64(space, key, i));
    }
    works(kvspace_set_i64(space, "/t/lone/some/key", 1));
}

static void fresh_space(void) {
    unlink(fixture_dsn + 4);
    works(open_it());
    populate();
}

struct state {
    size_t bytes;
    char text[STATE_MAX];
};

static int collect(void *context, const char *bytes, size_t count) {
    struct state *state = context;
    if (count > STATE_MAX - 1 - state->bytes) return 1;
    memcpy(state->text + state->bytes, bytes, count);
    state->bytes += count;
    state->text[state->bytes] = 0;
    return 0;
}

/* Big texts are told by their length, so that states stay small. */
static void take_state(struct state *state) {
    static const char *const big[] = {"/t/big", "/t/new", "/t/text"};
    struct kvspace_value value;
    state->bytes = 0;
    for (unsigned i = 0; i < sizeof big / sizeof big[0]; i++) {
        char line[100];
        if (kvspace_get(space, big[i], &value) || value.body_bytes < sizeof text_big) continue;
        int length = snprintf(line, sizeof line, "%s %llu %d\n", big[i], (unsigned long long)value.body_bytes,
                              memcmp(value.body, text_big, sizeof text_big));
        (void)collect(state, line, (size_t)length);
        works(kvspace_set(space, big[i], NULL));
    }
    works(kvspace_export(space, "/t", NULL, collect, state));
}

static void print_fault(void *context, const char *fault) { print_error("%s: %s\n", (const char *)context, fault); }

static void is_whole(const char *when) {
    struct kvspace_check_options options = {.report = print_fault, .context = (void *)(uintptr_t)when};
    if (kvspace_check(space, &options)) fail_msg("%s: not whole", when);
}

/* ---- death ---- */

/* 0: the child was killed at the mark; 1: it came to its end. */
static int die_in(int (*run)(void), bool opening, uint64_t mark) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
        for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++) signal(signals[i], SIG_DFL);
        alarm(CHILD_S);
        if (opening) fault_arm(FAULT_KILL, mark);
        if (open_it()) _exit(2);
        if (run) fault_arm(FAULT_KILL, mark);
        int rc = run ? run() : 0;
        fault_disarm(FAULT_KILL);
        if (rc) fprintf(stderr, "gives %s: %s\n", kvspace_error_name(rc), kvspace_message(space));
        _exit(rc ? 3 : 1);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) fail_msg("fork");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1) return 1;
    fail_msg("mark %llu: a child ends with status %#x", (unsigned long long)mark, (unsigned)status);
    return 1;
}

static void die_everywhere(const struct operation *operation, const struct state *before, const struct state *after) {
    static struct state now;
    char when[100];
    uint64_t stride = getenv("KVSPACE_DEATH_ALL") ? 1 : 5;
    for (uint64_t mark = 1 + (uint64_t)(operation - operations) % stride;; mark += stride) {
        if (mark >= MARKS_MAX) fail_msg("%s does not end", operation->name);
        fresh_space();
        kvspace_close(space);
        space = NULL;
        snprintf(when, sizeof when, "%s, killed at mark %llu", operation->name, (unsigned long long)mark);
        int ended = die_in(operation->run, false, mark);
        if (!ended) (void)die_in(NULL, true, 1 + mark * 7 % 61); /* and its successor, somewhere in the recovery */
        works(open_it());
        is_whole(when);
        take_state(&now);
        if (strcmp(now.text, before->text) != 0 && strcmp(now.text, after->text) != 0) fail_msg("%s: neither before nor after:\n%s", when, now.text);
        if (ended && strcmp(now.text, after->text) != 0) fail_msg("%s: it came to its end and has not happened", when);
        works(kvspace_repair(space, NULL));
        works(kvspace_set(space, "/t/new", &big_value));
        works(kvspace_del(space, "/t"));
        is_whole(when);
        kvspace_close(space);
        space = NULL;
        if (ended) return;
    }
}

static void fail_everywhere(const struct operation *operation, const struct state *before) {
    static struct state now;
    for (uint64_t mark = 1;; mark++) {
        fresh_space();
        fault_arm(FAULT_ALLOC, mark);
        int rc = operation->run();
        bool fired = fault_disarm(FAULT_ALLOC);
        if (fired && rc != KVSPACE_ENOSPC) fail_msg("%s: allocation %llu fails, it gives %s", operation->name, (unsigned long long)mark, kvspace_error_name(rc));
        if (fired && !strpbrk(kvspace_message(space), "abcdefghijklmnopqrstuvwxyz")) fail_msg("%s: no message", operation->name);
        if (operation->run == borrow && rc) (void)kvspace_read_end(space);
        is_whole(operation->name);
        take_state(&now);
        if (fired && strcmp(now.text, before->text) != 0) fail_msg("%s: allocation %llu fails, it has happened nevertheless:\n%s", operation->name, (unsigned long long)mark, now.text);
        kvspace_close(space);
        space = NULL;
        if (!fired) return;
    }
}

static void test_operation(void **state) {
    static struct state before, after;
    const struct operation *operation = *state;
    if (!fault_built()) skip();
    fresh_space();
    take_state(&before);
    kvspace_close(space);
    fresh_space();
    works(operation->run());
    take_state(&after);
    kvspace_close(space);
    space = NULL;
    die_everywhere(operation, &before, &after);
    fail_everywhere(operation, &before);
}

static int set_up(void **state) {
    (void)state;
    memset(text_small, 's', sizeof text_small);
    memset(text_big, 'b', sizeof text_big);
    small_value = kvspace_value_utf8(text_small, sizeof text_small);
    big_value = kvspace_value_utf8(text_big, sizeof text_big);
    return fixture_make_directory();
}

static int tear_down(void **state) {
    (void)state;
    unlink(fixture_dsn + 4);
    return rmdir(fixture_directory);
}

int main(void) {
    enum { COUNT = sizeof operations / sizeof operations[0] };
    static struct CMUnitTest tests[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){.name = operations[i].name, .test_func = test_operation, .initial_state = (void *)(uintptr_t)&operations[i]};
    return cmocka_run_group_tests_name("death", tests, set_up, tear_down);
}
