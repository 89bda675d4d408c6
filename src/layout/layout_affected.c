/* Whom a new layout would affect (layout_affected): the functions of a source that differ from what is there and that a vthread may still
 * call. Relies on emit.h for what differs and on tree_item.h for the calls. A vthread may call whatever its first function reaches over calls, and
 * what it names to the opcodes of `vthread·`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "layout/diag.h"
#include "layout/emit.h"
#include "layout/layout.h"
#include "layout/lower.h"
#include "layout/parse.h"
#include "layout/tree_item.h"
#include "layout/tree_names.h"

struct reached {
    struct ast_text path;
    struct reached *next; /* in the table */
};

/* Functions in the order in which they were reached; those before `done` have been looked into. */
struct reach {
    kvspace *space;
    struct ast_arena *arena;
    struct reached **all;
    uint32_t count, room, done;
    struct reached *table[1024];
};

static int reach_add(struct reach *reach, struct ast_text path) {
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < path.length; i++) hash = (hash ^ (unsigned char)path.at[i]) * 16777619u;
    struct reached **place = &reach->table[(hash ^ hash >> 13) & 1023];
    for (const struct reached *there = *place; there; there = there->next)
        if (ast_text_equal(there->path, path)) return 0;
    if (reach->count == reach->room) {
        uint32_t room = reach->room ? reach->room * 2 : 64;
        struct reached **all = realloc(reach->all, room * sizeof(struct reached *));
        if (!all) return KVSPACE_ENOMEM;
        reach->all = all;
        reach->room = room;
    }
    struct reached *reached = ast_alloc(reach->arena, sizeof *reached);
    if (!reached) return KVSPACE_ENOMEM;
    *reached = (struct reached){ast_copy(reach->arena, path), *place};
    *place = reached;
    reach->all[reach->count++] = reached;
    return 0;
}

static int reach_named(struct reach *reach, struct ast_text name) {
    char path[KVSPACE_KEY_MAX + 1];
    bool whole = name.length && name.at[0] == '/';
    int bytes = snprintf(path, sizeof path, "%s%.*s", whole ? "" : "/lib/", (int)name.length, name.at);
    return bytes < 0 || (size_t)bytes >= sizeof path ? 0 : reach_add(reach, (struct ast_text){path, (uint32_t)bytes});
}

static int look_into(struct reach *reach, struct ast_text path) {
    static const char family[] = "vthread·";
    struct ast_arena arena = {0};
    struct layout_item item;
    char key[KVSPACE_KEY_MAX + 1];
    snprintf(key, sizeof key, "%.*s", (int)path.length, path.at);
    int rc = tree_item(reach->space, &arena, key, &item);
    for (uint32_t r = 0; !rc && r < item.row_count; r++) {
        const struct layout_row *row = &item.rows[r];
        bool calls = ast_text_is(row->opcode, "call") || ast_text_is(row->opcode, "tailcall");
        bool names = row->opcode.length > sizeof family - 1 && !memcmp(row->opcode.at, family, sizeof family - 1);
        if (!row->reads) continue;
        if (calls && row->slots[0].kind == SLOT_PATH) rc = reach_add(reach, row->slots[0].as.text);
        if (names && row->slots[0].kind == SLOT_TEXT) rc = reach_named(reach, row->slots[0].as.text);
    }
    ast_arena_free(&arena);
    return rc == KVSPACE_ENOENT || rc == KVSPACE_EVALUE ? 0 : rc;
}

/* The first function of a vthread that has not ended. */
static int reach_vthread(struct reach *reach, const char *step) {
    char key[KVSPACE_KEY_MAX + 1], text[KVSPACE_KEY_MAX + 1];
    snprintf(key, sizeof key, "/vthread%.200s/‥status", step);
    int rc = kvspace_get_text(reach->space, key, text, sizeof text, NULL);
    if (rc || !strcmp(text, "done") || !strcmp(text, "error")) return rc == KVSPACE_ENOENT || rc == KVSPACE_ETYPE ? 0 : rc;
    snprintf(key, sizeof key, "/vthread%.200s/‥fn", step);
    rc = kvspace_get_text(reach->space, key, text, sizeof text, NULL);
    if (rc) return rc == KVSPACE_ENOENT || rc == KVSPACE_ETYPE ? 0 : rc;
    return reach_add(reach, ast_text_of(text));
}

static int reach_all(struct reach *reach) {
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    int rc = kvspace_list_open(reach->space, "/vthread", NULL, &cursor);
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    while ((rc = kvspace_list_next(cursor, &entry)) == 0) {
        rc = reach_vthread(reach, entry.text);
        if (rc) break;
    }
    kvspace_list_close(cursor);
    rc = rc == KVSPACE_EEND ? 0 : rc;
    while (!rc && reach->done < reach->count) rc = look_into(reach, reach->all[reach->done++]->path);
    return rc;
}

static bool is_reached(const struct reach *reach, struct ast_text path) {
    for (uint32_t i = 0; i < reach->count; i++)
        if (ast_text_equal(reach->all[i]->path, path)) return true;
    return false;
}

static int note_affected(const struct reach *reach, const struct layout_unit *unit, struct layout_names *affected) {
    affected->functions = calloc((size_t)unit->count + 1, sizeof *affected->functions);
    if (!affected->functions) return KVSPACE_ENOMEM;
    for (uint32_t i = 0; i < unit->count; i++) {
        const struct layout_item *item = &unit->items[i];
        bool same = true;
        int rc = is_reached(reach, item->path) ? emit_same(reach->space, item, &same) : 0;
        if (rc) return rc;
        if (same) continue;
        affected->functions[affected->function_count] = strndup(item->path.at, item->path.length);
        if (!affected->functions[affected->function_count]) return KVSPACE_ENOMEM;
        affected->function_count++;
    }
    return 0;
}

int layout_affected(kvspace *space, const struct layout_source *source, struct layout_names *affected, layout_sink sink, void *context) {
    struct ast_arena arena = {0};
    struct diag_list diags = {.count = 0};
    struct ast_file file = {0};
    struct layout_tree tree;
    struct layout_unit unit;
    struct reach reach = {.space = space, .arena = &arena};
    *affected = (struct layout_names){0};
    tree_names(space, &tree);
    int rc = parse_file(&arena, &diags, ast_text_of(source->name), source->text, source->length, &file);
    if (!rc) rc = lower_file(&arena, &diags, &file, &tree, &unit);
    if (!rc && diags.errors) rc = LAYOUT_REJECTED;
    int shown = rc == LAYOUT_REJECTED && sink ? diag_render(&diags, ast_text_of(source->name), file.source, sink, context) : 0;
    if (!rc) {
        int code = reach_all(&reach);
        if (!code) code = note_affected(&reach, &unit, affected);
        rc = code == KVSPACE_ENOMEM ? LAYOUT_NO_MEMORY : code ? LAYOUT_SPACE : LAYOUT_OK;
    }
    if (rc) layout_names_free(affected);
    free(reach.all);
    diag_free(&diags);
    ast_arena_free(&arena);
    return shown ? shown : rc < 0 ? LAYOUT_SPACE : rc;
}
