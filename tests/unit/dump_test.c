/* Dumping is the inverse of laying out: a program laid out in one space, dumped, and laid out from the dump in another one, gives the same
 * tree: every key and value at /lib, but for where things came from. Over every golden program that compiles, over generated ones, and
 * over functions whose rows were written or changed by hand. Also: laying out again changes nothing, versions, what stands beside a function.
 * Relies on the runtime for the opcodes, and on KVLANG_SOURCE_DIR (else the working directory is taken for the source root). */
#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <kvlang/kvlang.h>
#include "layout/layout.h"
#include "space_fixture.h"

enum { PATH_BYTES = 1024, GOLDEN_LEAST = 100, GENERATED = 120 };

static kvlang *lang, *other;
static kvspace *second;

static int open_both(void **state) {
    (void)state;
    struct kvlang_options options = {0};
    if (kvlang_open(&options, &lang) || kvlang_open(&options, &other)) return -1;
    space = kvlang_space(lang);
    second = kvlang_space(other);
    return 0;
}

static int close_both(void **state) {
    (void)state;
    kvlang_close(lang);
    kvlang_close(other);
    space = second = NULL;
    return 0;
}

static int put_bytes(void *context, const char *bytes, size_t length) {
    text_put(context, bytes, length);
    return 0;
}

/* 0 where it was laid out; what the compiler says is printed where `loud`. */
static int lay_out(kvspace *into, const char *name, const char *text, size_t length, bool loud) {
    struct text_buffer said = {0};
    struct text_out out = text_buffer_out(&said);
    struct layout_source source = {name, text, length};
    int rc = layout_into(into, &source, true, NULL, put_bytes, &out);
    if (rc && loud) print_error("%s: %d %s\n%s\n", name, rc, rc == LAYOUT_SPACE ? kvspace_message(into) : "", said.length ? said.bytes : "");
    text_buffer_free(&said);
    return rc;
}

static struct text_buffer dump_of(kvspace *from, const char *key, uint32_t *inexact) {
    struct text_buffer text = {0};
    struct text_out out = text_buffer_out(&text);
    struct layout_dumped dumped;
    text_puts(&out, "");
    assert_int_equal(LAYOUT_OK, layout_dump(from, key, false, &out, &dumped));
    if (inexact) *inexact = dumped.inexact;
    return text;
}

/* ---- comparing trees ---- */

static bool tells_origin(const char *name) {
    return !strcmp(name, "‥file") || !strcmp(name, "‥map") || !strcmp(name, "‥version") || !strcmp(name, "‥old") || !strcmp(name, "‥stage") || !strcmp(name, "‥start");
}

/* How many keys at `key` and below are missing in `there` or different; prints the first few. */
static unsigned missing(kvspace *here, kvspace *there, char *key, size_t length) {
    struct kvspace_list_options options = {.what = KVSPACE_LIST_ALL};
    struct kvspace_entry entry;
    struct kvspace_value *a = NULL, *b = NULL;
    kvspace_cursor *cursor;
    unsigned wrong = 0;
    kvspace_get_copy(here, key, &a);
    kvspace_get_copy(there, key, &b);
    if ((a != NULL) != (b != NULL) || (a && !kvspace_value_equal(a, b))) {
        print_error("%s differs\n", key);
        wrong++;
    }
    kvspace_value_free(a);
    kvspace_value_free(b);
    if (kvspace_list_open(here, key, &options, &cursor)) return wrong;
    while (wrong < 10 && kvspace_list_next(cursor, &entry) == 0) {
        if (tells_origin(entry.name)) continue;
        memcpy(key + length, entry.text, entry.text_bytes + 1);
        wrong += missing(here, there, key, length + entry.text_bytes);
        key[length] = '\0';
    }
    kvspace_list_close(cursor);
    return wrong;
}

static unsigned trees_differ(void) {
    char key[KVSPACE_KEY_MAX + 1] = "/lib";
    unsigned wrong = missing(space, second, key, 4);
    return wrong + missing(second, space, key, 4);
}

/* Empties /lib of what programs laid out, in both. */
static void start_anew(void) {
    close_both(NULL);
    assert_int_equal(0, open_both(NULL));
}

/* Lays out, dumps, lays out the dump, compares. */
static int goes_round(const char *name, const char *text, size_t length) {
    uint32_t inexact;
    start_anew();
    if (lay_out(space, name, text, length, true)) return 1;
    struct text_buffer dumped = dump_of(space, "/lib", &inexact);
    int wrong = lay_out(second, "dump", dumped.bytes, dumped.length, true) != 0;
    if (!wrong) wrong = trees_differ() != 0;
    struct text_buffer again = dump_of(second, "/lib", NULL);
    if (inexact || again.length != dumped.length || memcmp(again.bytes, dumped.bytes, again.length) != 0) wrong = 1;
    if (wrong) print_error("%s (%u inexact)\n--- dump\n%s--- dump of the dump\n%s", name, inexact, dumped.bytes, again.bytes);
    text_buffer_free(&dumped);
    text_buffer_free(&again);
    return wrong;
}

/* ---- without source ---- */

static void forget_sources(kvspace *from, char *key, size_t length) {
    struct kvspace_list_options options = {.what = KVSPACE_LIST_ALL};
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    if (kvspace_list_open(from, key, &options, &cursor)) return;
    while (kvspace_list_next(cursor, &entry) == 0) {
        if (entry.name[0] == '[') continue;
        memcpy(key + length, entry.text, entry.text_bytes + 1);
        if (strcmp(entry.name, "‥src") == 0) kvspace_del(from, key);
        else if (strncmp(entry.name, "‥", strlen("‥")) != 0) forget_sources(from, key, length + entry.text_bytes);
        key[length] = '\0';
    }
    kvspace_list_close(cursor);
}

static unsigned from_rows, from_rows_lost;

/* Functions that have no text any more are made from their rows: what is printed lays out to them; what cannot be is counted. */
static int comes_back_from_rows(const char *name, const char *text, size_t length) {
    char key[KVSPACE_KEY_MAX + 1] = "/lib";
    struct text_buffer dumped = {0};
    struct text_out out = text_buffer_out(&dumped);
    struct layout_dumped result;
    start_anew();
    if (lay_out(space, name, text, length, true)) return 1;
    forget_sources(space, key, 4);
    text_puts(&out, "");
    assert_int_equal(LAYOUT_OK, layout_dump(space, "/lib", false, &out, &result));
    from_rows += result.count;
    from_rows_lost += result.inexact;
    if (getenv("DUMP_SHOW") && result.inexact) print_message("==== %s\n%s", name, dumped.bytes);
    int wrong = 0;
    if (!result.inexact) {
        wrong = lay_out(second, "dump", dumped.bytes, dumped.length, true) != 0;
        key[4] = '\0';
        forget_sources(second, key, 4);
        if (!wrong) wrong = trees_differ() != 0;
    }
    if (wrong) print_error("%s\n--- dump\n%s", name, dumped.bytes);
    text_buffer_free(&dumped);
    return wrong;
}

static int ends_with(const char *name, const char *suffix) {
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static void golden_programs(int (*check)(const char *name, const char *text, size_t length)) {
    const char *root = getenv("KVLANG_SOURCE_DIR");
    char folder[PATH_BYTES], path[PATH_BYTES * 2];
    static char text[1 << 18];
    snprintf(folder, sizeof folder, "%s/tests/programs/golden", root ? root : ".");
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    int wrong = 0, tried = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (!ends_with(entry->d_name, ".kv")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t length = fread(text, 1, sizeof text - 1, file);
        fclose(file);
        text[length] = '\0';
        if (strstr(text, "# expect-exit: 2")) continue;
        tried++;
        wrong += check(entry->d_name, text, length);
    }
    closedir(directory);
    assert_int_equal(0, wrong);
    assert_true(tried >= GOLDEN_LEAST);
}

static void golden_programs_go_round(void **state) {
    (void)state;
    golden_programs(goes_round);
}

static void golden_programs_come_back_from_their_rows(void **state) {
    (void)state;
    from_rows = from_rows_lost = 0;
    golden_programs(comes_back_from_rows);
    print_message("%u of %u have no form\n", from_rows_lost, from_rows);
    assert_true(from_rows_lost * 20 <= from_rows);
}

/* ---- generated programs ---- */

struct maker {
    uint64_t state;
    char *at, *end;
    unsigned depth, functions, loops;
};

static unsigned draw(struct maker *maker, unsigned below) {
    maker->state = maker->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(maker->state >> 33) % below;
}

static void say(struct maker *maker, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct maker *maker, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(maker->at, (size_t)(maker->end - maker->at), format, arguments);
    va_end(arguments);
    assert_true(bytes >= 0 && bytes < maker->end - maker->at);
    maker->at += bytes;
}

static void say_number(struct maker *maker) {
    static const char *const operators[] = {"+", "-", "×", "÷", "%", "<<", "&", "|", "^"};
    unsigned what = maker->depth > 4 ? draw(maker, 3) : draw(maker, 9);
    maker->depth++;
    if (what == 0) say(maker, "%u", draw(maker, 1000));
    else if (what < 3) say(maker, "%c", "abnm"[draw(maker, 4)]);
    else if (what < 6) {
        say(maker, "(%c %s ", "abnm"[draw(maker, 4)], operators[draw(maker, 9)]); /* no constants that would be folded */
        say_number(maker);
        say(maker, ")");
    } else if (what == 6 && maker->functions) {
        say(maker, "f%u(", draw(maker, maker->functions));
        say_number(maker);
        say(maker, ", ");
        say_number(maker);
        say(maker, ")");
    } else if (what == 7) {
        say(maker, "-%c", "abnm"[draw(maker, 4)]);
    } else {
        say(maker, "xs[");
        say_number(maker);
        say(maker, "]");
    }
    maker->depth--;
}

static void say_truth(struct maker *maker) {
    static const char *const signs[] = {"==", "!=", "<", ">", "<=", ">="};
    unsigned what = draw(maker, 6);
    if (what == 0) {
        say(maker, "!(");
        say_truth(maker);
        say(maker, ")");
    } else if (what == 1) {
        say(maker, "(");
        say_truth(maker);
        say(maker, draw(maker, 2) ? " && " : " || ");
        say_truth(maker);
        say(maker, ")");
    } else {
        say_number(maker);
        say(maker, " %s ", signs[draw(maker, 6)]);
        say_number(maker);
    }
}

static void say_block(struct maker *maker, unsigned most);

static void say_statement(struct maker *maker) {
    unsigned what = maker->depth > 3 ? draw(maker, 4) : draw(maker, 11);
    maker->depth++;
    if (what < 2) {
        say_number(maker);
        say(maker, " -> %c\n", "nmr"[draw(maker, 3)]);
    } else if (what == 2) {
        say(maker, "xs[0] = ");
        say_number(maker);
        say(maker, "\n");
    } else if (what == 3) {
        say(maker, "println(\"x %u\", ", draw(maker, 10));
        say_number(maker);
        say(maker, ")\n");
    } else if (what == 4) {
        say(maker, "t = ");
        say_truth(maker);
        say(maker, "\n");
    } else if (what < 7) {
        say(maker, "if (");
        say_truth(maker);
        say(maker, ") {\n");
        say_block(maker, 3);
        if (draw(maker, 2)) {
            say(maker, "} else {\n");
            say_block(maker, 3);
        }
        say(maker, "}\n");
    } else if (what == 7) {
        say(maker, "while (");
        say_truth(maker);
        say(maker, ") {\n");
        maker->loops++;
        say_block(maker, 3);
        maker->loops--;
        say(maker, "}\n");
    } else if (what == 8) {
        say(maker, draw(maker, 2) ? "for (i in range(0, n)) {\n" : "for (k, v in xs) {\nk + v -> n\n");
        maker->loops++;
        say_block(maker, 3);
        maker->loops--;
        say(maker, "}\n");
    } else if (what == 9 && maker->loops) {
        say(maker, "if (");
        say_truth(maker);
        say(maker, ") { %s }\n", draw(maker, 2) ? "break" : "continue");
    } else {
        say(maker, "if (");
        say_truth(maker);
        say(maker, ") { return }\n");
    }
    maker->depth--;
}

static void say_block(struct maker *maker, unsigned most) {
    for (unsigned i = 1 + draw(maker, most); i > 0; i--) say_statement(maker);
}

static void say_function(struct maker *maker, unsigned number, const char *indent) {
    say(maker, "%s# number %u\n%srwfunc f%u(a:int64, b:int64) -> (r:int64) {\n", indent, number, indent, number);
    say(maker, "1 -> n\n2 -> m\n3 -> r\nxs = [1, 2, 3]\n");
    say_block(maker, 6);
    say(maker, "%s}\n", indent);
}

static size_t make_program(uint64_t seed, char *text, size_t room) {
    struct maker maker = {.state = seed * 7919 + 1, .at = text, .end = text + room};
    unsigned functions = 1 + draw(&maker, 4);
    for (; maker.functions < functions; maker.functions++) say_function(&maker, maker.functions, "");
    if (draw(&maker, 2)) {
        say(&maker, "lib a {\nstruct P { x:float64 = 1.5; q:int64 }\n1 -> n; 2 -> m; xs = [%u]\nP{x=2.0} -> p; n + p·q -> a\n2 -> b\nlib b/c {\n", draw(&maker, 9));
        say_function(&maker, 9, "\t");
        say(&maker, "}\n}\n");
    }
    if (draw(&maker, 2)) {
        say(&maker, "0 -> n; 1 -> m; 2 -> a; 3 -> b; xs = [4]\n");
        say_block(&maker, 4);
    }
    return (size_t)(maker.at - text);
}

static void generated_programs(int (*check)(const char *name, const char *text, size_t length)) {
    static char text[1 << 20];
    int wrong = 0;
    for (uint64_t seed = 1; seed <= GENERATED && wrong < 3; seed++) {
        char name[32];
        size_t length = make_program(seed, text, sizeof text);
        snprintf(name, sizeof name, "seed %u", (unsigned)seed);
        if (check(name, text, length)) {
            wrong++;
            print_error("--- program\n%s", text);
        }
    }
    assert_int_equal(0, wrong);
}

static void generated_programs_go_round(void **state) {
    (void)state;
    generated_programs(goes_round);
}

static void generated_programs_come_back_from_their_rows(void **state) {
    (void)state;
    from_rows = from_rows_lost = 0;
    generated_programs(comes_back_from_rows);
    print_message("%u of %u have no form\n", from_rows_lost, from_rows);
    assert_true(from_rows_lost * 5 <= from_rows * 2); /* jumps into loops are beyond it */
}

/* ---- versions and neighbours ---- */

static uint64_t version_of(const char *key) {
    char place[KVSPACE_KEY_MAX + 1];
    uint64_t version = 0;
    snprintf(place, sizeof place, "%s/‥version", key);
    gives(0, kvspace_get_u64(space, place, &version));
    return version;
}

static void lays_out(const char *text) {
    assert_int_equal(LAYOUT_OK, lay_out(space, "t.kv", text, strlen(text), true));
}

static void what_has_not_changed_keeps_its_version(void **state) {
    (void)state;
    start_anew();
    lays_out("rwfunc f() -> (r:int64) { 1 -> r }\nrwfunc g() -> (r:int64) { f() -> r }\n");
    assert_int_equal(1, version_of("/lib/f"));
    lays_out("\n\nrwfunc f() -> (r:int64) { 1 -> r }\nrwfunc g() -> (r:int64) { f() + 1 -> r }\n");
    assert_int_equal(1, version_of("/lib/f"));
    assert_int_equal(2, version_of("/lib/g"));
    prints("/lib/f/‥map", "[[3, 1], [3, 27], [3, 34]]");
    lays_out("rwfunc f() -> (r:int64) { 2 -> r }\n");
    assert_int_equal(2, version_of("/lib/f"));
    holds_i64("/lib/f/[1,-1]", 2);
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/lib/‥stage"));
}

static void an_old_version_goes_when_nobody_can_stand_in_it(void **state) {
    (void)state;
    uint64_t vid;
    start_anew();
    lays_out("rwfunc f() -> (r:int64) { 1 -> r }\n");
    assert_int_equal(KVLANG_OK, kvlang_start(lang, "f", NULL, 0, &vid));
    lays_out("rwfunc f() -> (r:int64) { 2 -> r }\n");
    assert_int_equal(0, kvspace_exists(space, "/lib/‥old/f@1"));
    assert_int_equal(KVLANG_OK, kvlang_run(lang, vid, 0, NULL));
    lays_out("rwfunc f() -> (r:int64) { 3 -> r }\n");
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/lib/‥old/f@1"));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/lib/‥old/f@2"));
}

static void a_function_leaves_the_lib_of_its_name_alone(void **state) {
    (void)state;
    start_anew();
    lays_out("lib f { rwfunc x() -> (r:int64) { 1 -> r }\nlib g { rwfunc y() -> (r:int64) { 2 -> r } } }\nrwfunc f() -> () { println(1) }\n");
    lays_out("rwfunc f() -> () { println(2) }\n");
    holds_i64("/lib/f·x/[1,-1]", 1);
    holds_i64("/lib/f/g·y/[1,-1]", 2);
    lays_out("rwfunc f() -> () { println(2) }\n");
    assert_int_equal(2, version_of("/lib/f"));
    assert_int_equal(1, version_of("/lib/f·x"));
}

static void nothing_is_written_where_there_is_an_error(void **state) {
    (void)state;
    static const char text[] = "rwfunc f() -> (r:int64) { 1 -> r }\nrwfunc g() -> () { nothing(1) }\n";
    start_anew();
    assert_int_equal(LAYOUT_REJECTED, lay_out(space, "t.kv", text, strlen(text), false));
    gives(KVSPACE_ENOENT, kvspace_exists(space, "/lib/f"));
}

static bool affects(const char *text) {
    struct layout_source source = {"t.kv", text, strlen(text)};
    struct layout_names affected;
    assert_int_equal(LAYOUT_OK, layout_affected(space, &source, &affected, NULL, NULL));
    bool any = affected.function_count > 0;
    layout_names_free(&affected);
    return any;
}

static void a_vthread_is_affected_by_what_it_may_call(void **state) {
    (void)state;
    uint64_t vid;
    start_anew();
    lays_out("rwfunc f() -> (r:int64) { 1 -> r }\nrwfunc g() -> (r:int64) { f() -> r }\nrwfunc h() -> (r:int64) { 1 -> r }\n");
    assert_false(affects("rwfunc f() -> (r:int64) { 2 -> r }\n"));
    assert_int_equal(KVLANG_OK, kvlang_start(lang, "g", NULL, 0, &vid));
    assert_true(affects("rwfunc f() -> (r:int64) { 2 -> r }\n"));
    assert_false(affects("rwfunc f() -> (r:int64) { 1 -> r }\n"));
    assert_false(affects("rwfunc h() -> (r:int64) { 2 -> r }\n"));
    assert_int_equal(KVLANG_OK, kvlang_run(lang, vid, 0, NULL));
    assert_false(affects("rwfunc f() -> (r:int64) { 2 -> r }\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(golden_programs_go_round, open_both, close_both),
        cmocka_unit_test_setup_teardown(generated_programs_go_round, open_both, close_both),
        cmocka_unit_test_setup_teardown(golden_programs_come_back_from_their_rows, open_both, close_both),
        cmocka_unit_test_setup_teardown(generated_programs_come_back_from_their_rows, open_both, close_both),
        cmocka_unit_test_setup_teardown(what_has_not_changed_keeps_its_version, open_both, close_both),
        cmocka_unit_test_setup_teardown(an_old_version_goes_when_nobody_can_stand_in_it, open_both, close_both),
        cmocka_unit_test_setup_teardown(a_function_leaves_the_lib_of_its_name_alone, open_both, close_both),
        cmocka_unit_test_setup_teardown(nothing_is_written_where_there_is_an_error, open_both, close_both),
        cmocka_unit_test_setup_teardown(a_vthread_is_affected_by_what_it_may_call, open_both, close_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
