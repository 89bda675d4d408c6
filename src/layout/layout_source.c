/* The calls of layout.h that need a source and nothing else: format and check.
 * Relies on parse.h, format.h and diag.h. Each call has its own arena and list of diagnostics, freed before it returns. */
#include <string.h>
#include "layout/diag.h"
#include "layout/format.h"
#include "layout/layout.h"
#include "layout/parse.h"

struct reading {
    struct ast_arena arena;
    struct diag_list diags;
    struct ast_file file;
};

static int read_source(struct reading *reading, const struct layout_source *source) {
    memset(reading, 0, sizeof *reading);
    return parse_file(&reading->arena, &reading->diags, ast_text_of(source->name), source->text, source->length, &reading->file);
}

/* Shows what was found and frees everything. A failing sink wins over rc. */
static int finish(struct reading *reading, const struct layout_source *source, int rc, layout_sink sink, void *context) {
    int shown = sink ? diag_render(&reading->diags, ast_text_of(source->name), reading->file.source, sink, context) : 0;
    diag_free(&reading->diags);
    ast_arena_free(&reading->arena);
    return shown ? shown : rc;
}

int layout_format(const struct layout_source *source, char **out, size_t *out_length, layout_sink sink, void *context) {
    struct reading reading;
    *out = NULL;
    *out_length = 0;
    int rc = read_source(&reading, source);
    if (!rc) rc = format_file(&reading.file, out, out_length);
    return finish(&reading, source, rc, sink, context);
}

int layout_check_source(const struct layout_source *source, layout_sink sink, void *context) {
    struct reading reading;
    int rc = read_source(&reading, source);
    return finish(&reading, source, rc, sink, context);
}
