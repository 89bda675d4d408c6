/* Copies and moves: values, containers, subtrees, what they refuse, and that other processes see the old or
 * the new one, whole. Relies on space_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "space_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#define DOT    "\xc2\xb7"
#define SHADOW "\xe2\x80\xa5"

static void test_cp(void **state) {
    (void)state;
    works(kvspace_set_text(space, "/a", "some text"));
    works(kvspace_set_i64(space, "/a/child", 1));
    works(kvspace_set_i64(space, "/b/c/kept", 2));
    works(kvspace_cp(space, "/a", "/b/c"));
    holds_text("/b/c", "some text");
    holds_i64("/b/c/kept", 2);
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/b/c/child"));
    works(kvspace_set_literal(space, "/m", "{x=1,y={z=2}}", 13, NULL));
    works(kvspace_set_i64(space, "/m/child", 3));
    works(kvspace_set_literal(space, "/n", "{old=1}", 7, NULL));
    works(kvspace_set_i64(space, "/n/kept", 4));
    works(kvspace_cp(space, "/m", "/n"));
    prints("/n", "{x=1, y={z=2}}");
    lists("/n", KVSPACE_LIST_ALL, "/kept " DOT "x " DOT "y");
    works(kvspace_set_i64(space, "/n" DOT "y" DOT "z", 9)); /* the copy is one of its own */
    prints("/m", "{x=1, y={z=2}}");
    gives(KVSPACE_ENOENT, kvspace_cp(space, "/none", "/n"));
    gives(KVSPACE_ENOENT, kvspace_cp(space, "/b", "/n")); /* no value there */
    gives(KVSPACE_EUSAGE, kvspace_cp(space, "/m", "/m"));
    gives(KVSPACE_EUSAGE, kvspace_cp(space, "/m", "/m" DOT "x"));
    gives(KVSPACE_EUSAGE, kvspace_cp(space, "/m" DOT "x", "/m"));
    lists("/", KVSPACE_LIST_ALL, "/sys /a /b /m /n");
}

static void test_cp_tree(void **state) {
    (void)state;
    works(kvspace_set_literal(space, "/t/m", "{x=1,y=[1,2,3]}", 15, NULL));
    works(kvspace_set_i64(space, "/t/d/e/f", 1));
    works(kvspace_set_i64(space, "/t/" SHADOW "pc", 2));
    works(kvspace_set_i64(space, "/u/gone", 3));
    works(kvspace_cp_tree(space, "/t", "/u"));
    lists("/u", KVSPACE_LIST_ALL, "/m /d /" SHADOW "pc");
    prints("/u/m", "{x=1, y=[1, 2, 3]}");
    holds_i64("/u/d/e/f", 1);
    works(kvspace_set_i64(space, "/u/d/e/f", 7));
    holds_i64("/t/d/e/f", 1);
    gives(KVSPACE_ENOENT, kvspace_cp_tree(space, "/none", "/u"));
    lists("/u", KVSPACE_LIST_ALL, "/m /d /" SHADOW "pc");
    gives(KVSPACE_EUSAGE, kvspace_cp_tree(space, "/t", "/t/below"));
    gives(KVSPACE_EUSAGE, kvspace_cp_tree(space, "/t/d", "/t"));
    gives(KVSPACE_EUSAGE, kvspace_cp_tree(space, "/t", "/"));
    gives(KVSPACE_EUSAGE, kvspace_cp_tree(space, "/", "/t"));
    gives(KVSPACE_EREADONLY, kvspace_cp_tree(space, "/t", "/sys"));
    gives(KVSPACE_EUNSUPPORTED, kvspace_cp_tree(space, "/t", "/sys/x"));
    works(kvspace_cp_tree(space, "/sys/space", "/copy")); /* of what is computed */
    works(kvspace_exists(space, "/copy/limit"));
    for (int i = 0; i < 3000; i++) { /* as big as one likes, and deep */
        char key[64];
        snprintf(key, sizeof key, "/big/%d/%d", i % 30, i);
        works(kvspace_set_i64(space, key, i));
    }
    char deep[KVSPACE_KEY_MAX + 1];
    size_t bytes = (size_t)sprintf(deep, "/big");
    while (bytes + 2 < 2000) bytes += (size_t)sprintf(deep + bytes, "/d");
    works(kvspace_set_i64(space, deep, 1));
    works(kvspace_cp_tree(space, "/big", "/cpy"));
    memcpy(deep, "/cpy", 4);
    holds_i64(deep, 1);
    holds_i64("/cpy/29/2999", 2999);
}

static void test_replace(void **state) {
    (void)state;
    works(kvspace_set_i64(space, "/d/one", 1));
    works(kvspace_set_i64(space, "/d/two/x", 2));
    works(kvspace_set_i64(space, "/d/three", 3));
    works(kvspace_set_i64(space, "/n/new/y", 4));
    works(kvspace_replace(space, "/n/new", "/d/two", "/keep/old"));
    holds_i64("/d/two/y", 4);
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/d/two/x"));
    holds_i64("/keep/old/x", 2);
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/n")); /* pruned */
    lists("/d", KVSPACE_LIST_ALL, "/one /two /three");  /* in the old one's place */
    works(kvspace_replace(space, "/keep/old", "/d/three", NULL));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/keep"));
    holds_i64("/d/three/x", 2);
    works(kvspace_replace(space, "/d/one", "/d/four", NULL)); /* a renaming */
    lists("/d", KVSPACE_LIST_ALL, "/two /three /four");
    works(kvspace_replace(space, "/d/four", "/d" DOT "m", NULL)); /* becomes a member */
    lists("/d", KVSPACE_LIST_ALL, "/two /three " DOT "m");
    works(kvspace_replace(space, "/d" DOT "m", "/" SHADOW "sys", NULL));
    holds_i64("/" SHADOW "sys", 1);
    gives(KVSPACE_ENOENT, kvspace_replace(space, "/none", "/d/two", "/o"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/o"));
    gives(KVSPACE_EUSAGE, kvspace_replace(space, "/d", "/d/two", NULL));
    gives(KVSPACE_EUSAGE, kvspace_replace(space, "/d/two", "/d", NULL));
    gives(KVSPACE_EUSAGE, kvspace_replace(space, "/", "/d", NULL));
    gives(KVSPACE_EUSAGE, kvspace_replace(space, "/d/two", "/d/three", "/d/two/z"));
    gives(KVSPACE_EREADONLY, kvspace_replace(space, "/sys", "/d/x", NULL));
    gives(KVSPACE_EREADONLY, kvspace_replace(space, "/d/two", "/sys", NULL));
    gives(KVSPACE_EUNSUPPORTED, kvspace_replace(space, "/d/two", "/sys/space/x", NULL));
    works(kvspace_set_i64(space, "/o", 5)); /* with an old one that is replaced itself */
    works(kvspace_replace(space, "/d/two", "/d/three", "/o"));
    holds_i64("/o/x", 2);
    gives(KVSPACE_ENOENT, kvspace_get_i64(space, "/o", &(int64_t){0}));
    lists("/d", KVSPACE_LIST_ALL, "/three");
}

/* A child process moves a new function over the old one again and again, and back; here it is always one of
 * both, whole. */
static void test_replace_while_others_read(void **state) {
    (void)state;
    char key[64];
    works(kvspace_set_i64(space, "/lib/f", 0));
    for (int i = 0; i < 5; i++) {
        snprintf(key, sizeof key, "/lib/f/%d", i);
        works(kvspace_set_i64(space, key, 0));
    }
    pid_t child = fork();
    if (child == 0) {
        alarm(120); /* whatever becomes of the parent */
        kvspace *own;
        if (kvspace_open(fixture_dsn, &own)) _exit(1);
        for (int64_t round = 1;; round++) {
            int rc = kvspace_set_i64(own, "/new", round);
            for (int i = 0; i < 5; i++) {
                snprintf(key, sizeof key, "/new/%d", i);
                rc |= kvspace_set_i64(own, key, round);
            }
            rc |= round % 2 ? kvspace_replace(own, "/new", "/lib/f", round % 3 ? NULL : "/old")
                            : kvspace_cp_tree(own, "/new", "/lib/f");
            if (rc) _exit(2);
        }
    }
    int64_t first = 0, last = -1;
    for (int round = 0; round < 100000 || (last < 50 && round < 100000000); round++) {
        works(kvspace_get_i64(space, "/lib/f", &first)); /* never absent */
        snprintf(key, sizeof key, "/lib/f/%d", round % 5);
        int64_t number = 0;
        works(kvspace_get_i64(
            space, key, &number)); /* a later one, since the move may come in between; never an earlier one */
        if (number < first) fail_msg("%lld comes after %lld", (long long)number, (long long)first);
        if (number < last) fail_msg("%lld comes after %lld", (long long)number, (long long)last);
        last = number;
    }
    kill(child, SIGKILL);
    int status;
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_true(WIFSIGNALED(status));
    works(kvspace_exists(space, "/lib/f/4")); /* the mover died anywhere */
    works(kvspace_cp_tree(space, "/lib/f", "/after"));
}

static void test_overlay(void **state) {
    (void)state;
    works(kvspace_set_literal(space, "/base", "{a=1,b={c=2,d=3},e=5}", 21, NULL));
    works(kvspace_set_i64(space, "/base/child", 1));
    works(kvspace_extindex(space, "/o", "/base"));
    prints("/o", "{a=1, b={c=2, d=3}, e=5}");
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/o/child")); /* members only */
    works(kvspace_set_i64(space, "/o" DOT "a", 10));
    works(kvspace_set_i64(space, "/o" DOT "b" DOT "c", 20));
    works(kvspace_set_i64(space, "/o" DOT "f", 60));
    prints("/o", "{a=10, b={c=20, d=3}, e=5, f=60}");
    prints("/base", "{a=1, b={c=2, d=3}, e=5}");
    works(kvspace_del(space, "/o" DOT "e"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/o" DOT "e"));
    gives(KVSPACE_ENOENT, kvspace_del(space, "/o" DOT "e"));
    works(kvspace_del(space, "/o" DOT "a"));
    prints("/o", "{b={c=20, d=3}, f=60}");
    works(kvspace_set(space, "/o" DOT "b" DOT "d", NULL)); /* None hides too */
    prints("/o", "{b={c=20}, f=60}");
    works(
        kvspace_set_i64(space, "/o" DOT "b", 7)); /* no container any more: nothing of the base's is below */
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/o" DOT "b" DOT "d"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/o" DOT "b" DOT "c"));
    works(kvspace_set_i64(space, "/o" DOT "e", 50)); /* hidden, and set again */
    prints("/o", "{b=7, e=50, f=60}");
    works(kvspace_incr(space, "/o" DOT "e", 1, NULL));
    works(kvspace_set_i64(space, "/base" DOT "g", 70)); /* the base goes on */
    holds_i64("/o" DOT "g", 70);
    works(kvspace_incr(space, "/o" DOT "g", 1, NULL)); /* brought up */
    holds_i64("/o" DOT "g", 71);
    holds_i64("/base" DOT "g", 70);
    struct kvspace_value seventy = kvspace_value_i64(70), one = kvspace_value_i64(71);
    works(kvspace_del(space, "/o" DOT "g"));
    gives(KVSPACE_EMISMATCH, kvspace_cas(space, "/o" DOT "g", &seventy, &one));
    works(kvspace_cas(space, "/o" DOT "g", NULL, &one));
    works(kvspace_rmindexext(space, "/o"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/o"));
    prints("/base", "{a=1, b={c=2, d=3}, e=5, g=70}");
    gives(KVSPACE_ETYPE, kvspace_rmindexext(space, "/base"));
    gives(KVSPACE_ENOENT, kvspace_rmindexext(space, "/o"));
    gives(KVSPACE_ENOENT, kvspace_extindex(space, "/o", "/none"));
    works(kvspace_set_i64(space, "/scalar", 1));
    gives(KVSPACE_ENOENT, kvspace_extindex(space, "/o", "/scalar"));
    gives(KVSPACE_EUSAGE, kvspace_extindex(space, "/base", "/base"));
    gives(KVSPACE_EUSAGE, kvspace_extindex(space, "/base", "/base" DOT "b"));
}

static void test_overlays_on_overlays(void **state) {
    (void)state;
    char key[32], below[32];
    works(kvspace_set_literal(space, "/o0", "{x=0,y={z=1}}", 13, NULL));
    int rc = 0, depth = 1;
    for (; depth < 20; depth++) {
        snprintf(key, sizeof key, "/o%d", depth);
        snprintf(below, sizeof below, "/o%d", depth - 1);
        if ((rc = kvspace_extindex(space, key, below))) break;
        snprintf(key, sizeof key, "/o%d" DOT "n%d", depth, depth);
        works(kvspace_set_i64(space, key, depth));
        snprintf(key, sizeof key, "/o%d" DOT "y" DOT "z", depth);
        holds_i64(key, 1);
    }
    gives(KVSPACE_ELIMIT, rc);
    assert_true(depth >= 7 && depth <= 9);
    works(kvspace_set_i64(space, "/o0" DOT "y" DOT "z", 5));
    snprintf(key, sizeof key, "/o%d" DOT "y" DOT "z", depth - 1);
    holds_i64(key, 5);
    snprintf(key, sizeof key, "/o%d", depth - 1);
    works(kvspace_cp_tree(space, "/o1", "/copy"));
    holds_i64("/copy" DOT "n1", 1);
    holds_i64("/copy" DOT "x", 0);
    works(kvspace_cp(space, "/o1" DOT "y", "/copied")); /* what only the base has, with its members */
    prints("/copied", "{z=5}");
    works(kvspace_del(space, "/o1" DOT "n1"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/o2" DOT "n1"));
    gives(KVSPACE_EUSAGE, kvspace_extindex(space, "/o0", "/o3")); /* a ring */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cp, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_cp_tree, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_replace, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_replace_while_others_read, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_overlay, open_space, close_space),
        cmocka_unit_test_setup_teardown(test_overlays_on_overlays, open_space, close_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
