/* The calls of layout.h that need a tree: check against it, and lay out into it.
 * Relies on lower.h, emit.h, tree_names.h. Promise: nothing is written where the source has an error. */
#include <stdlib.h>
#include <string.h>
#include "layout/diag.h"
#include "layout/emit.h"
#include "layout/layout.h"
#include "layout/lower.h"
#include "layout/parse.h"
#include "layout/tree_names.h"

static int copy_names(const struct layout_unit *unit, struct layout_names *names) {
    *names = (struct layout_names){.has_init = unit->has_init};
    names->functions = calloc((size_t)unit->count + 1, sizeof *names->functions);
    names->inits = calloc((size_t)unit->init_count + 1, sizeof *names->inits);
    bool full = names->functions && names->inits;
    for (uint32_t i = 0; full && i < unit->count; i++) {
        if (unit->items[i].kind != ITEM_FUNCTION) continue;
        full = (names->functions[names->function_count] = strndup(unit->items[i].path.at, unit->items[i].path.length)) != NULL;
        names->function_count += full;
    }
    for (uint32_t i = 0; full && i < unit->init_count; i++) {
        full = (names->inits[i] = strndup(unit->inits[i].at, unit->inits[i].length)) != NULL;
        names->init_count += full;
    }
    if (full) return LAYOUT_OK;
    layout_names_free(names);
    return LAYOUT_NO_MEMORY;
}

void layout_names_free(struct layout_names *names) {
    for (uint32_t i = 0; names->functions && i < names->function_count; i++) free(names->functions[i]);
    for (uint32_t i = 0; names->inits && i < names->init_count; i++) free(names->inits[i]);
    free(names->functions);
    free(names->inits);
    *names = (struct layout_names){0};
}

int layout_into(kvspace *space, const struct layout_source *source, bool write, struct layout_names *names, layout_sink sink, void *context) {
    struct ast_arena arena = {0};
    struct diag_list diags = {0};
    struct ast_file file = {0};
    struct layout_tree tree;
    struct layout_unit unit = {0};
    if (names) *names = (struct layout_names){0};
    tree_names(space, &tree);
    int rc = parse_file(&arena, &diags, ast_text_of(source->name), source->text, source->length, &file);
    if (!rc) rc = lower_file(&arena, &diags, &file, &tree, &unit);
    if (!rc && diags.errors) rc = LAYOUT_REJECTED;
    if (!rc && write && emit_unit(space, &unit)) rc = LAYOUT_SPACE;
    if (rc < 0) rc = LAYOUT_SPACE;
    if (!rc && names) rc = copy_names(&unit, names);
    int shown = sink ? diag_render(&diags, ast_text_of(source->name), file.source, sink, context) : 0;
    diag_free(&diags);
    ast_arena_free(&arena);
    return shown ? shown : rc;
}
