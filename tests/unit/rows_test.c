/* The rows of laid-out functions: every tests/layout/NAME.kv becomes exactly the listing NAME.rows, which is as short as a careful
 * person would write it; and every golden program that is meant to compile does so without a word, in the same way each time.
 * Relies on the compiler, with the opcodes of this runtime for a tree, and on KVLANG_SOURCE_DIR (else the working directory is
 * taken for the source root). `rows FILE.kv` prints a listing. */
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

enum { PATH_BYTES = 1024, LISTINGS_LEAST = 12, GOLDEN_LEAST = 100 };

static const char *root;

/* The whole file, zero-terminated, malloc'd; NULL where there is none. */
static char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    size_t room = 1 << 20;
    char *bytes = malloc(room + 1);
    assert_non_null(bytes);
    *length = fread(bytes, 1, room, file);
    bytes[*length] = '\0';
    fclose(file);
    return bytes;
}

static int put_bytes(void *context, const char *bytes, size_t length) {
    text_put(context, bytes, length);
    return 0;
}

/* The listing of a source, or its diagnostics; *problems: how many of those. */
static struct text_buffer compile(const char *name, const char *text, size_t length, uint32_t *problems) {
    struct ast_arena arena = {0};
    struct diag_list diags = {0};
    struct ast_file file;
    struct layout_unit unit;
    struct opcode_tree opcodes;
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    opcode_tree_start(&opcodes, NULL);
    int rc = parse_file(&arena, &diags, ast_text_of(name), text, length, &file);
    assert_true(rc == PARSE_OK || diags.errors > 0);
    if (!rc) assert_int_equal(0, lower_file(&arena, &diags, &file, &opcodes.tree, &unit));
    *problems = diags.count;
    if (diags.count) diag_render(&diags, file.name, file.source, put_bytes, &out);
    else rows_list_unit(&unit, &out);
    if (!buffer.length) text_puts(&out, "");
    diag_free(&diags);
    ast_arena_free(&arena);
    return buffer;
}

static int ends_with(const char *name, const char *suffix) {
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static int listing_differs(const char *folder, const char *name) {
    char path[PATH_BYTES * 2];
    size_t length, wanted_length;
    uint32_t problems;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = read_file(path, &length);
    snprintf(path, sizeof path, "%s/%.*s.rows", folder, (int)(strlen(name) - 3), name);
    char *wanted = read_file(path, &wanted_length);
    if (!text || !wanted) {
        print_error("%s or its listing cannot be read\n", name);
        free(text);
        free(wanted);
        return 1;
    }
    struct text_buffer listing = compile(name, text, length, &problems);
    int differs = listing.length != wanted_length || memcmp(listing.bytes, wanted, wanted_length) != 0;
    if (differs) print_error("%s\n--- expected\n%s--- actual\n%s", name, wanted, listing.bytes);
    text_buffer_free(&listing);
    free(text);
    free(wanted);
    return differs;
}

static void rows_are_those_of_the_listings(void **state) {
    (void)state;
    char folder[PATH_BYTES];
    snprintf(folder, sizeof folder, "%s/tests/layout", root);
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    int programs = 0, listings = 0, failed = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        listings += ends_with(entry->d_name, ".rows");
        if (!ends_with(entry->d_name, ".kv")) continue;
        programs++;
        failed += listing_differs(folder, entry->d_name);
    }
    closedir(directory);
    assert_int_equal(0, failed);
    assert_int_equal(programs, listings);
    assert_true(programs >= LISTINGS_LEAST);
}

/* Programs that are meant to be refused say so by exit status 2. */
static int golden_fails(const char *folder, const char *name, int *compiled) {
    char path[PATH_BYTES * 2];
    size_t length;
    uint32_t problems, again;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = read_file(path, &length);
    assert_non_null(text);
    bool refused = strstr(text, "# expect-exit: 2") != NULL;
    struct text_buffer first = compile(name, text, length, &problems), second = compile(name, text, length, &again);
    int fails = refused ? strstr(first.bytes, ": error: ") == NULL : problems != 0;
    if (fails) print_error("%s: %s\n%s", name, refused ? "is accepted" : "is not compiled without a word", first.bytes);
    if (first.length != second.length || memcmp(first.bytes, second.bytes, first.length) != 0) {
        print_error("%s: compiled twice, the rows differ\n", name);
        fails = 1;
    }
    *compiled += !refused;
    text_buffer_free(&first);
    text_buffer_free(&second);
    free(text);
    return fails;
}

static void golden_programs_compile_without_a_word(void **state) {
    (void)state;
    char folder[PATH_BYTES];
    snprintf(folder, sizeof folder, "%s/tests/programs/golden", root);
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    int compiled = 0, failed = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
        if (ends_with(entry->d_name, ".kv")) failed += golden_fails(folder, entry->d_name, &compiled);
    closedir(directory);
    assert_int_equal(0, failed);
    assert_true(compiled >= GOLDEN_LEAST);
}

static int print_listing(const char *path) {
    size_t length;
    uint32_t problems;
    char *text = read_file(path, &length);
    if (!text) return 1;
    struct text_buffer listing = compile(path, text, length, &problems);
    fputs(listing.bytes, stdout);
    text_buffer_free(&listing);
    free(text);
    return problems != 0;
}

int main(int count, char **arguments) {
    root = getenv("KVLANG_SOURCE_DIR");
    if (!root) root = ".";
    if (count > 1) return print_listing(arguments[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_listings),
        cmocka_unit_test(golden_programs_compile_without_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
