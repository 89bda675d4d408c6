/* Names that a space provides (tree_names.h): functions, opcodes, structs and values at /lib, by the keys of docs/rows.md.
 * Promise: what is half there or has another form counts as a value: the compiler then says that it is no function. */
#include "layout/tree_names.h"
#include <stdio.h>
#include <string.h>

static uint8_t kind_of(const struct kvspace_value *value) {
    static const struct {
        const char *type;
        uint8_t kind;
    } kinds[] = {{"rwfunc", FOUND_FUNCTION}, {"def rwir", FOUND_OPCODE}, {"def struct", FOUND_STRUCT}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (value->type_bytes == strlen(kinds[i].type) && memcmp(value->type, kinds[i].type, value->type_bytes) == 0) return kinds[i].kind;
    return FOUND_VALUE;
}

static bool copy_text(kvspace *space, struct ast_arena *arena, const char *key, struct ast_text *out, int *rc) {
    struct kvspace_value value;
    *rc = kvspace_get(space, key, &value);
    if (*rc || value.body_bytes > UINT32_MAX) return false;
    char *copy = ast_alloc(arena, (size_t)value.body_bytes + 1);
    if (!copy) {
        *rc = KVSPACE_ENOMEM;
        return false;
    }
    memcpy(copy, value.body, value.body_bytes);
    *out = (struct ast_text){copy, (uint32_t)value.body_bytes};
    return true;
}

static int find_params(kvspace *space, struct ast_arena *arena, const char *key, struct layout_found *found) {
    char place[KVSPACE_KEY_MAX + 1];
    uint32_t count = found->reads + found->writes;
    int rc = 0;
    found->params = ast_alloc(arena, (count + 1) * sizeof *found->params);
    if (!found->params) return KVSPACE_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        int column = i < found->reads ? -(int)i - 1 : (int)(i - found->reads) + 1;
        if (snprintf(place, sizeof place, "%s/[0,%d]", key, column) >= (int)sizeof place) return KVSPACE_EKEY;
        if (!copy_text(space, arena, place, &found->params[i], &rc)) found->kind = FOUND_VALUE; /* damaged by hand */
        if (rc && rc != KVSPACE_ENOENT) return rc;
    }
    if (snprintf(place, sizeof place, "%s/‥doc", key) >= (int)sizeof place) return 0;
    if (!copy_text(space, arena, place, &found->doc, &rc) && rc != KVSPACE_ENOENT) return rc;
    return 0;
}

enum { PARAMS_MOST = 100000 }; /* a head that was damaged by hand */

static int find(void *context, struct ast_arena *arena, struct ast_text key, struct layout_found *found) {
    kvspace *space = context;
    char path[KVSPACE_KEY_MAX + 1];
    struct kvspace_value value;
    uint32_t head[4] = {0};
    *found = (struct layout_found){.kind = FOUND_NOTHING, .doc = {"", 0}};
    if (key.length > KVSPACE_KEY_MAX) return 0;
    memcpy(path, key.at, key.length);
    path[key.length] = '\0';
    int rc = kvspace_get(space, path, &value);
    if (rc == KVSPACE_ENOENT || rc == KVSPACE_EKEY) return 0;
    if (rc) return -rc;
    found->kind = kind_of(&value);
    if (found->kind == FOUND_VALUE) return 0;
    bool structure = found->kind == FOUND_STRUCT;
    size_t bytes = structure ? sizeof head[0] : sizeof head;
    if (value.body_bytes < bytes) {
        found->kind = FOUND_VALUE;
        return 0;
    }
    memcpy(structure ? &head[1] : head, value.body, bytes);
    if (head[0] > PARAMS_MOST || head[1] > PARAMS_MOST) {
        found->kind = FOUND_VALUE;
        return 0;
    }
    found->reads = head[0];
    found->writes = head[1];
    found->variadic = head[2] != 0;
    return -find_params(space, arena, path, found);
}

struct visiting {
    void (*visit)(void *visitor, struct ast_text key, uint8_t kind);
    void *visitor;
    kvspace *space;
    char key[KVSPACE_KEY_MAX + 1];
};

/* Everything that has a value below the key: members are functions of the lib, children are functions, libs or both. */
static int each_below(struct visiting *visiting, size_t length, unsigned depth) {
    enum { LIBS_NEST_MOST = 16 };
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    const struct kvspace_list_options options = {.what = KVSPACE_LIST_ALL};
    int rc = kvspace_list_open(visiting->space, visiting->key, &options, &cursor);
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    while ((rc = kvspace_list_next(cursor, &entry)) == 0) {
        struct kvspace_value value;
        if (entry.step == KVSPACE_STEP_SYSTEM || entry.name[0] == '[' || length + entry.text_bytes > KVSPACE_KEY_MAX) continue;
        memcpy(visiting->key + length, entry.text, (size_t)entry.text_bytes + 1);
        uint8_t kind = FOUND_NOTHING;
        if (entry.has_value && kvspace_get(visiting->space, visiting->key, &value) == 0) kind = kind_of(&value);
        size_t bytes = length + entry.text_bytes;
        if (kind != FOUND_NOTHING) visiting->visit(visiting->visitor, (struct ast_text){visiting->key, (uint32_t)bytes}, kind);
        if ((kind == FOUND_NOTHING || kind == FOUND_VALUE) && depth < LIBS_NEST_MOST) rc = each_below(visiting, bytes, depth + 1);
        if (!rc && entry.has_members && (kind == FOUND_FUNCTION || kind == FOUND_OPCODE) && depth < LIBS_NEST_MOST) rc = each_below(visiting, bytes, depth + 1);
        visiting->key[length] = '\0';
        if (rc) break;
    }
    kvspace_list_close(cursor);
    return rc == KVSPACE_EEND ? 0 : rc;
}

static int each(void *context, void (*visit)(void *visitor, struct ast_text key, uint8_t kind), void *visitor) {
    struct visiting visiting = {.visit = visit, .visitor = visitor, .space = context, .key = "/lib"};
    return -each_below(&visiting, strlen("/lib"), 0);
}

void tree_names(kvspace *space, struct layout_tree *tree) { *tree = (struct layout_tree){space, find, each}; }
