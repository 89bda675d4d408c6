/* The catalogue of wrong programs: every tests/diagnostics/NAME.kv, checked, gives exactly the text of NAME.txt.
 * Relies on the parser and the checker, with the opcodes of this runtime for a tree, and on KVLANG_SOURCE_DIR (else the
 * working directory is taken for the source root). An empty NAME.txt: nothing may be reported.
 * A program without its text, or a text without its program, fails; so does a catalogue that has shrunk. */
#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "layout/layout.h"
#include "layout/lower.h"
#include "layout/parse.h"
#include "std/opcode_tree.h"

enum { PATH_BYTES = 1024, TEXT_BYTES = 1 << 16, PROGRAMS_LEAST = 200 };

struct text {
    char bytes[TEXT_BYTES];
    size_t length;
};

static struct text program, expected, actual;
static char folder[PATH_BYTES];

static int read_file(const char *name, struct text *text) {
    char path[PATH_BYTES * 2];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) return -1;
    text->length = fread(text->bytes, 1, sizeof text->bytes - 1, file);
    text->bytes[text->length] = '\0';
    fclose(file);
    return 0;
}

static int gather(void *context, const char *bytes, size_t length) {
    struct text *text = context;
    if (length > sizeof text->bytes - 1 - text->length) return -1;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
    return 0;
}

static int ends_with(const char *name, const char *suffix) {
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

/* Parses and checks as layout does, without a space. */
static int check_text(const char *name, const struct text *text, struct text *out) {
    struct ast_arena arena = {0};
    struct diag_list diags = {0};
    struct ast_file file;
    struct layout_unit unit;
    struct opcode_tree opcodes;
    opcode_tree_start(&opcodes, NULL);
    int rc = parse_file(&arena, &diags, ast_text_of(name), text->bytes, text->length, &file);
    if (!rc) rc = lower_file(&arena, &diags, &file, &opcodes.tree, &unit);
    if (!rc && diags.errors) rc = LAYOUT_REJECTED;
    int shown = diag_render(&diags, file.name, file.source, gather, out);
    diag_free(&diags);
    ast_arena_free(&arena);
    return shown ? shown : rc;
}

/* 0 where the program's diagnostics are the expected ones. */
static int check_program(const char *name) {
    char text_name[PATH_BYTES];
    snprintf(text_name, sizeof text_name, "%.*s.txt", (int)(strlen(name) - 3), name);
    actual.length = 0;
    actual.bytes[0] = '\0';
    if (read_file(name, &program) || read_file(text_name, &expected)) {
        print_error("%s: the program or its text cannot be read\n", name);
        return 1;
    }
    int rc = check_text(name, &program, &actual);
    int wanted = strstr(expected.bytes, ": error: ") ? LAYOUT_REJECTED : LAYOUT_OK;
    if (rc == wanted && actual.length == expected.length && memcmp(actual.bytes, expected.bytes, actual.length) == 0) return 0;
    print_error("%s: rc %d, wanted %d\n--- expected\n%s--- actual\n%s", name, rc, wanted, expected.bytes, actual.bytes);
    return 1;
}

static void every_wrong_program_gets_its_exact_diagnostics(void **state) {
    (void)state;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    int programs = 0, texts = 0, failed = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (ends_with(entry->d_name, ".txt")) texts++;
        if (!ends_with(entry->d_name, ".kv")) continue;
        programs++;
        failed += check_program(entry->d_name);
    }
    closedir(directory);
    print_message("%d programs\n", programs);
    assert_int_equal(0, failed);
    assert_int_equal(programs, texts);
    assert_true(programs >= PROGRAMS_LEAST);
}

static void a_failing_sink_ends_the_check(void **state) {
    (void)state;
    static struct text full;
    full.length = sizeof full.bytes - 1;
    struct layout_source source = {"x.kv", "x = ", 4};
    assert_int_equal(-1, layout_check_source(&source, gather, &full));
}

int main(void) {
    const char *root = getenv("KVLANG_SOURCE_DIR");
    snprintf(folder, sizeof folder, "%s/tests/diagnostics", root ? root : ".");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_wrong_program_gets_its_exact_diagnostics),
        cmocka_unit_test(a_failing_sink_ends_the_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
