/* The formatter: canonical text for every form, comments and blank lines kept, formatting twice changes nothing, and
 * the formatted text means the same; the last test does so over golden programs with random blanks and comments. Relies on the layout library; golden programs as in parse_test.c. */
#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "layout/format.h"
#include "layout/layout.h"
#include "layout/parse.h"

struct reading {
    struct ast_arena arena;
    struct diag_list diags;
    struct ast_file file;
    char *text;
    size_t length;
};

static int read_text(struct reading *reading, const char *text, size_t length) {
    memset(reading, 0, sizeof *reading);
    int rc = parse_file(&reading->arena, &reading->diags, ast_text_of("t.kv"), text, length, &reading->file);
    return rc ? rc : format_file(&reading->file, &reading->text, &reading->length);
}

static void drop(struct reading *reading) {
    free(reading->text);
    diag_free(&reading->diags);
    ast_arena_free(&reading->arena);
}

/* Formats text, checks the promises, and gives the result, which the caller frees; NULL where a promise is broken. */
static char *formatted(const char *text, size_t length) {
    struct reading first, second;
    char *result = NULL;
    int rc = read_text(&first, text, length);
    if (rc) print_error("the text does not parse: %s\n", first.diags.count ? first.diags.reports[0].message : "no memory");
    if (!rc) rc = read_text(&second, first.text, first.length);
    if (rc && first.text) print_error("the formatted text does not parse:\n%s", first.text);
    if (!rc) {
        bool equal = ast_equal(&first.file, &second.file), stable = strcmp(first.text, second.text) == 0;
        bool kept = first.file.comment_count == second.file.comment_count;
        if (!equal) print_error("the meaning has changed:\n%s", first.text);
        if (!stable) print_error("not stable:\n%s---\n%s", first.text, second.text);
        if (!kept) print_error("comments are lost:\n%s", first.text);
        if (equal && stable && kept) {
            result = first.text;
            first.text = NULL;
        }
        drop(&second);
    }
    drop(&first);
    return result;
}

static void assert_formats(const char *text, const char *expected) {
    char *result = formatted(text, strlen(text));
    assert_non_null(result);
    assert_string_equal(expected, result);
    free(result);
}

static void unchanged(const char *text) {
    assert_formats(text, text);
}

static void aliases_become_canonical(void **state) {
    (void)state;
    assert_formats("a<-3*4 / 2", "a = 3 × 4 ÷ 2\n");
    assert_formats("m.x <- kv.get(/a.b, null)", "m·x = kv·get(/a·b, None)\n");
    assert_formats("m.*k = t.[1 , 2]", "m·*k = t·[1,2]\n");
    assert_formats("x = a ≠ b ≤ c ≥ d", "x = a != b <= c >= d\n");
    assert_formats("m : []char/utf8 · int64 = {}", "m:[]char/utf8·int64 = {}\n");
    assert_formats("x<-1", "x = 1\n");
    assert_formats("/a ·b = 1", "/a·b = 1\n");
}

static void blanks_are_canonical(void **state) {
    (void)state;
    assert_formats("  x=1+2*-3\n", "x = 1 + 2 × -3\n");
    assert_formats("f( a,b , c )->q ,r:int64,_\n", "f(a, b, c) -> q, r:int64, _\n");
    assert_formats("a [ i , - 1 ] = [ 1,2 , ]", "a[i,-1] = [1, 2]\n");
    assert_formats("x = { a = 1 , b=2 ; }", "x = {a=1; b=2}\n");
    assert_formats("x = {1,2 ,3;}", "x = {1, 2, 3}\n");
    assert_formats("x = Point { x = 1.0 }", "x = Point{x=1.0}\n");
    assert_formats("x = [ 1.5 ... ]", "x = [1.5...]\n");
    assert_formats("x = ( ( a + b ) )*c", "x = (a + b) × c\n");
    assert_formats("x = - - a + ! b + * p + & q", "x = --a + !b + *p + &q\n");
    assert_formats("rwfunc f( a : int64,xs:any ... )->( r : int64|float64 ){ a->r }", "rwfunc f(a:int64, xs:any...) -> (r:int64|float64) { a -> r }\n");
    assert_formats("rwfunc f(){}", "rwfunc f() {}\n");
    assert_formats("struct P{x:float64=0.0;y:Q}", "struct P { x:float64 = 0.0; y:Q }\n");
    assert_formats("if(a){f()}else   if(b){}else{g();h()}", "if (a) { f() } else if (b) {} else { g(); h() }\n");
    assert_formats("for(k,v in m){}\nwhile(a<b){break}", "for (k, v in m) {}\nwhile (a < b) { break }\n");
    assert_formats("x = 1; y = 2;", "x = 1\ny = 2\n");
    assert_formats("", "");
    assert_formats("\n\n", "");
    assert_formats("\n\nx = 1\r\n\r\n\r\n\r\ny = 2\r\n\n\n", "x = 1\n\ny = 2\n");
}

static void blocks_keep_their_shape(void **state) {
    (void)state;
    unchanged("rwfunc f() -> () {\n\tif (a) { x = 1 }\n\tif (b) {\n\t\ty = 2\n\t} else { z = 3 }\n}\n");
    assert_formats("if (a)\n{\nf()\n}\nelse\n{\ng() }", "if (a) {\n\tf()\n} else {\n\tg()\n}\n");
    assert_formats("lib a {\n\n\nx = 1\n\n\n\nrwfunc f() {}\n\n}", "lib a {\n\tx = 1\n\n\trwfunc f() {}\n}\n");
    assert_formats("struct P {\nx:int64\n\n\ny:int64 = 1 }", "struct P {\n\tx:int64\n\n\ty:int64 = 1\n}\n");
    assert_formats("while (a) {\n}", "while (a) {}\n");
}

static void line_breaks_in_brackets_stay(void **state) {
    (void)state;
    unchanged("x = [\n\t1,\n\t2, 3\n]\n");
    unchanged("println(2 × (\n\t3 ×\n\t4\n))\n");
    unchanged("x = f(a,\n\tb,\n\t{c=1; d=2})\n");
    unchanged("x = {\n\ta=1\n\tb={\n\t\tc=2\n\t}\n}\n");
    unchanged("x = {\n\t1,\n\t2\n}\n");
    unchanged("rwfunc f(\n\ta:int64,\n\tb:int64\n) -> () {\n\tg()\n}\n");
    assert_formats("x = f(\n\n\na\n\n)", "x = f(\n\ta\n)\n");
    unchanged("if (a\n\t&& b) {\n\tf()\n}\n");
    unchanged("x = \"\"\"one\n  two\"\"\" + `three\nfour`\n");
}

static void comments_stay(void **state) {
    (void)state;
    unchanged("# one\n// two\n\n/* three\n   four */\nx = 1 # five\n\n# six\n");
    unchanged("rwfunc f() { # why\n\t# before\n\tg() // behind\n\n\t# last\n} # end\n");
    unchanged("f(/* a */ b, /* c */ /* d */ e /* f */)\n");
    assert_formats("f(b /* c */, e)", "f(b, /* c */ e)\n");
    unchanged("x = [\n\t1, # one\n\t# alone\n\t2 # two\n]\n");
    unchanged("x = {\n\ta=1 # one\n\t# alone\n\tb=2\n}\n");
    unchanged("if (a) {\n\tf()\n} # behind\n# before\nelse {\n\tg()\n}\n");
    unchanged("struct P {\n\tx:int64 # x\n\n\t# y\n\ty:int64\n}\n");
    unchanged("lib a {\n\t# nothing\n}\n");
    assert_formats("x = 1 /* a */; /* b */ y = 2 // c", "x = 1 /* a */ /* b */\ny = 2 // c\n");
    assert_formats("if (a) { f() /* b */ }", "if (a) {\n\tf() /* b */\n}\n");
    assert_formats("if (a // why\n) { f() }", "if (a) { // why\n\tf()\n}\n");
    assert_formats("f(a // one\n, b)", "f(a, // one\n\tb)\n");
    assert_formats("x /* a */ = /* b */ 1 + /* c */ 2", "x = /* a */ /* b */ 1 + /* c */ 2\n");
    unchanged("# a comment may end in blanks  \n");
}

static void literals_stay_as_written(void **state) {
    (void)state;
    unchanged("x = 0xFF_ff + 1_000 + 1e3 + 0b10 + 18446744073709551615 + -9223372036854775808 + -0.0\n");
    unchanged("x = \"\\t\\u{e9}\" + 'its' + r##\"a\"#b\"##\n");
}

/* Trees built by hand, without places or raw texts, as dump builds them. */
static struct ast_node *made(struct ast_arena *arena, enum ast_kind kind) {
    struct ast_node *node = ast_node(arena, kind);
    assert_non_null(node);
    return node;
}

static void trees_without_a_source_are_printed(void **state) {
    (void)state;
    struct ast_arena arena = {0};
    struct ast_file file = {.source = {"", 0}};
    struct ast_node *text = made(&arena, AST_STRING), *number = made(&arena, AST_FLOAT), *integer = made(&arena, AST_INT);
    text->as.string.value = ast_text_of("a\t\"b\"\\\n\x01é");
    number->as.real.value = 3;
    integer->as.integer.bits = (uint64_t)INT64_MIN;
    struct ast_node *args[] = {text, number, integer}, *call = made(&arena, AST_CALL), *write = made(&arena, AST_WRITE);
    call->as.call.callee = ast_text_of("pkg·f");
    call->as.call.args = (struct ast_nodes){args, 3};
    struct ast_node *slot = made(&arena, AST_NAME), *loop = made(&arena, AST_WHILE), *condition = made(&arena, AST_BOOL);
    slot->as.name.text = ast_text_of("x");
    struct ast_type type = {.text = ast_text_of("int64")};
    write->as.write.value = call;
    write->as.write.slots = (struct ast_nodes){&slot, 1};
    write->as.write.types = &type;
    write->as.write.right = true;
    loop->as.while_loop.condition = condition;
    loop->as.while_loop.block.body = (struct ast_nodes){&write, 1};
    file.items = (struct ast_nodes){&loop, 1};
    char *out;
    size_t length;
    assert_int_equal(0, format_file(&file, &out, &length));
    assert_string_equal("while (false) {\n\tpkg·f(\"a\\t\\\"b\\\"\\\\\\n\\x01é\", 3.0, -9223372036854775808) -> x:int64\n}\n", out);
    assert_int_equal(strlen(out), length);
    free(out);
    ast_arena_free(&arena);
}

static int gather(void *context, const char *bytes, size_t length) {
    (void)bytes;
    *(size_t *)context += length;
    return 0;
}

static void what_does_not_parse_is_not_formatted(void **state) {
    (void)state;
    struct layout_source source = {"x.kv", "x = = 1", 7};
    char *out = NULL;
    size_t length = 1, shown = 0;
    assert_int_equal(LAYOUT_REJECTED, layout_format(&source, &out, &length, gather, &shown));
    assert_null(out);
    assert_int_equal(0, length);
    assert_true(shown > 0);
    source = (struct layout_source){"x.kv", "x=1", 3};
    assert_int_equal(LAYOUT_OK, layout_format(&source, &out, &length, NULL, NULL));
    assert_string_equal("x = 1\n", out);
    free(out);
}

static void comparison_sees_differences(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"x = 1", "1 -> x"},       {"x = 1", "x = 1.0"},      {"x = a - (b - c)", "x = a - b - c"}, {"x = -0.0", "x = 0.0"},
        {"f(1, 2)", "f(2, 1)"},    {"x = {a=1}", "x = {1}"},  {"x:int64 = 1", "x = 1"},             {"m·a = 1", "m[a] = 1"},
        {"x = \"a\"", "x = 'b'"},  {"x = [1]", "x = [1...]"}, {"rwfunc f(a:int64) {}", "rwfunc f(a:int64...) {}"},
        {"if (a) {}", "if (a) {} else {}"}, {"lib a {}", "lib b {}"}, {"struct P { x:int64 }", "struct P { x:int64 = 0 }"},
        {"for (a in b) {}", "for (_, a in b) {}"}, {"x = &a", "x = *a"}, {"x = a + b", "x = a - b"}, {"break_ = 1", "break_ = 2"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct reading a, b;
        assert_int_equal(0, read_text(&a, pairs[i][0], strlen(pairs[i][0])));
        assert_int_equal(0, read_text(&b, pairs[i][1], strlen(pairs[i][1])));
        assert_false(ast_equal(&a.file, &b.file));
        assert_true(ast_equal(&a.file, &a.file));
        drop(&a);
        drop(&b);
    }
}

static void golden_programs_keep_their_meaning(void **state) {
    (void)state;
    const char *root = getenv("KVLANG_SOURCE_DIR");
    char folder[1024], path[2048];
    static char text[1 << 16];
    snprintf(folder, sizeof folder, "%s/tests/programs/golden", root ? root : ".");
    DIR *directory = opendir(folder);
    if (!directory) skip();
    int programs = 0, failed = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (!strstr(entry->d_name, ".kv")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *stream = fopen(path, "rb");
        assert_non_null(stream);
        size_t length = fread(text, 1, sizeof text - 1, stream);
        fclose(stream);
        text[length] = '\0';
        struct reading reading;
        int rc = read_text(&reading, text, length);
        drop(&reading);
        if (rc) continue; /* a program with a syntax error; parse_test.c knows which may be */
        char *result = formatted(text, length);
        if (!result) print_error("%s\n", entry->d_name);
        failed += !result;
        free(result);
        programs++;
    }
    closedir(directory);
    assert_int_equal(0, failed);
    assert_true(programs > 50);
}

/* ---- random layouts ---- */

static uint64_t random_state;

static uint32_t random_below(uint32_t limit) { /* splitmix64 */
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) % limit);
}

struct scattered {
    char text[1 << 18];
    size_t length;
    char brackets[256]; /* what is open, innermost last */
    uint32_t depth;
};

static void scatter(struct scattered *scattered, const char *at, size_t length) {
    assert_true(scattered->length + length < sizeof scattered->text);
    memcpy(scattered->text + scattered->length, at, length);
    scattered->length += length;
}

static void scatter_gap(struct scattered *scattered, const struct scan_token *token, bool behind_open) {
    static const char *const anywhere[] = {" ", "  ", "\t", " /* c */ ", " /* c\n   d */ ", " /**/ "};
    static const char *const bracketed[] = {"\n", " // c\n", "\n\n\t", "\n# c\n", " # c\n# d\n"};
    static const char *const between[] = {"\n", "\n\n\n", " // c\n", "\n/* c */ ", "\n# c\n\n", ";\n"};
    bool inside = scattered->depth && scattered->brackets[scattered->depth - 1] != '{';
    bool closes = token->kind == TOKEN_CLOSE_PAREN || token->kind == TOKEN_CLOSE_BRACKET || token->kind == TOKEN_COMMA;
    const char *gap = token->blank_before ? " " : "";
    if (token->line_before && !inside) gap = scattered->depth || random_below(2) ? between[random_below(5)] : between[random_below(6)];
    else if (inside && (token->blank_before || closes || behind_open) && random_below(4) == 0) gap = bracketed[random_below(5)];
    else if ((token->blank_before || closes || behind_open) && random_below(3) == 0) gap = anywhere[random_below(6)];
    scatter(scattered, gap, strlen(gap));
}

/* The same tokens with other blanks, line breaks and comments between them, wherever these may stand. */
static void scatter_program(struct scattered *scattered, struct ast_arena *arena, const char *text, size_t length) {
    struct diag_list diags = {.count = 0};
    struct scan scan;
    struct scan_token token;
    bool behind_open = false;
    scattered->length = scattered->depth = 0;
    scan_start(&scan, arena, &diags, (struct ast_text){text, (uint32_t)length});
    for (scan_next(&scan, &token); token.kind != TOKEN_END; scan_next(&scan, &token)) {
        char sign = token.raw.length == 1 ? token.raw.at[0] : ' ';
        scatter_gap(scattered, &token, behind_open);
        if (strchr(")]}", sign) && scattered->depth) scattered->depth--;
        scatter(scattered, token.raw.at, token.raw.length);
        if (strchr("([{", sign) && scattered->depth < sizeof scattered->brackets) scattered->brackets[scattered->depth++] = sign;
        behind_open = sign == '(' || sign == '[';
    }
    diag_free(&diags);
}

static int check_scattered(struct scattered *scattered, const char *name, const char *text, size_t length) {
    struct reading first, other;
    if (read_text(&first, text, length)) {
        drop(&first);
        return 0;
    }
    scatter_program(scattered, &first.arena, text, length);
    int rc = read_text(&other, scattered->text, scattered->length);
    bool same = rc == 0 && ast_equal(&first.file, &other.file);
    char *result = same ? formatted(scattered->text, scattered->length) : NULL;
    if (!result) print_error("%s (%s):\n%.*s\n", name, rc ? other.diags.reports[0].message : "differs", (int)scattered->length, scattered->text);
    bool holds = result != NULL;
    free(result);
    drop(&first);
    drop(&other);
    return !holds;
}

static int each_golden_program(int (*check)(struct scattered *, const char *, const char *, size_t), struct scattered *scattered, int rounds) {
    const char *root = getenv("KVLANG_SOURCE_DIR");
    char folder[1024], path[2048];
    static char text[1 << 16];
    snprintf(folder, sizeof folder, "%s/tests/programs/golden", root ? root : ".");
    DIR *directory = opendir(folder);
    if (!directory) skip();
    int failed = 0;
    for (struct dirent *entry = readdir(directory); entry && !failed; entry = readdir(directory)) {
        if (!strstr(entry->d_name, ".kv")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *stream = fopen(path, "rb");
        assert_non_null(stream);
        size_t length = fread(text, 1, sizeof text - 1, stream);
        fclose(stream);
        for (int i = 0; i < rounds && !failed; i++) failed = check(scattered, entry->d_name, text, length);
    }
    closedir(directory);
    return failed;
}

static void blanks_and_comments_change_nothing(void **state) {
    (void)state;
    const char *seed = getenv("KVLANG_SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    print_message("KVLANG_SEED=%llu\n", (unsigned long long)random_state);
    struct scattered *scattered = malloc(sizeof *scattered);
    assert_non_null(scattered);
    int failed = each_golden_program(check_scattered, scattered, 5);
    free(scattered);
    assert_int_equal(0, failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aliases_become_canonical),
        cmocka_unit_test(blanks_are_canonical),
        cmocka_unit_test(blocks_keep_their_shape),
        cmocka_unit_test(line_breaks_in_brackets_stay),
        cmocka_unit_test(comments_stay),
        cmocka_unit_test(literals_stay_as_written),
        cmocka_unit_test(trees_without_a_source_are_printed),
        cmocka_unit_test(what_does_not_parse_is_not_formatted),
        cmocka_unit_test(comparison_sees_differences),
        cmocka_unit_test(golden_programs_keep_their_meaning),
        cmocka_unit_test(blanks_and_comments_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
