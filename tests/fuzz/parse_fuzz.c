/* Whatever text comes in, the parser ends with a tree or with diagnostics; and what it accepts, the formatter keeps:
 * the formatted text parses to an equal tree, and formatting it again changes nothing.
 * Relies on the layout library. A broken promise aborts, which the drivers record. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "layout/diag.h"
#include "layout/format.h"
#include "layout/parse.h"
#include "promise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reading {
    struct ast_arena arena;
    struct diag_list diags;
    struct ast_file file;
    char *text;
    size_t length;
};

static int read_text(struct reading *reading, const char *text, size_t length) {
    memset(reading, 0, sizeof *reading);
    int rc = parse_file(&reading->arena, &reading->diags, ast_text_of("fuzz.kv"), text, length, &reading->file);
    size_t shown = 0;
    diag_render(&reading->diags, reading->file.name, reading->file.source, count_bytes, &shown);
    if ((rc == PARSE_REJECTED) != (reading->diags.errors > 0)) broken("rejected exactly where there are errors");
    if (reading->diags.errors && !shown) broken("an error is shown");
    if (rc == PARSE_OK && format_file(&reading->file, &reading->text, &reading->length)) broken("formatting has memory");
    return rc;
}

static void drop(struct reading *reading) {
    free(reading->text);
    diag_free(&reading->diags);
    ast_arena_free(&reading->arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct reading first, second;
    int rc = read_text(&first, (const char *)data, size);
    if (rc == PARSE_OK) {
        if (read_text(&second, first.text, first.length)) broken("formatted text parses");
        if (!ast_equal(&first.file, &second.file)) broken("formatting keeps the tree");
        if (first.file.comment_count != second.file.comment_count) broken("formatting keeps the comments");
        if (first.length != second.length || memcmp(first.text, second.text, first.length) != 0) broken("formatting twice changes nothing");
        drop(&second);
    }
    drop(&first);
    return 0;
}
