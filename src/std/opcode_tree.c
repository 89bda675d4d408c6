/* Answers from tables of opcodes. Relies on opcode_tree.h; the tables are those that kvlang.c registers.
 * Promise: nothing is written anywhere but in the arena that is given. */
#include "std/opcode_tree.h"

#include <string.h>

#include "core/runtime.h"
#include "std/family.h"

/* The parameters between one pair of parentheses, from `*at` on; up to `most` of them are kept. */
static uint32_t split(const char **at, struct ast_text *params, uint32_t most) {
    const char *from = strchr(*at, '(');
    uint32_t count = 0;
    int depth = 0;
    if (!from) return 0;
    for (const char *c = ++from; *c; c++) {
        bool ends = depth == 0 && (*c == ',' || *c == ')');
        if (ends) {
            while (*from == ' ') from++;
            if (c > from && count < most) params[count++] = (struct ast_text){from, (uint32_t)(c - from)};
            from = c + 1;
            if (*c == ')') {
                *at = from;
                break;
            }
        } else if (*c == '[' || *c == '(') depth++;
        else if (*c == ']' || *c == ')') depth--;
    }
    return count;
}

static bool has_dots(struct ast_text param) {
    return param.length > 3 && memcmp(param.at + param.length - 3, "...", 3) == 0;
}

static int fill(const struct native_row *row, struct ast_arena *arena, struct layout_found *found) {
    enum { PARAMS_MAX = 64 };
    struct ast_text params[PARAMS_MAX];
    const char *at = row->signature;
    uint32_t reads = split(&at, params, PARAMS_MAX / 2);
    if (reads > row->least) reads = row->least + 1u; /* what may be left out is one variadic parameter */
    found->variadic = reads > row->least || (reads && has_dots(params[reads - 1]));
    uint32_t writes = split(&at, params + reads, PARAMS_MAX / 2);
    found->kind = FOUND_OPCODE;
    found->reads = reads;
    found->writes = writes;
    found->doc = ast_text_of(row->doc ? row->doc : "");
    found->params = ast_alloc(arena, (reads + writes + 1) * sizeof *found->params);
    if (!found->params) return -1;
    memcpy(found->params, params, (reads + writes) * sizeof *params);
    return 0;
}

const struct native_row *opcode_tree_row(const struct opcode_tree *opcodes, struct ast_text name) {
    for (uint32_t t = 0; t < opcodes->count; t++)
        for (uint32_t i = 0; i < opcodes->tables[t].count; i++)
            if (ast_text_is(name, opcodes->tables[t].rows[i].name)) return &opcodes->tables[t].rows[i];
    return NULL;
}

static int find(void *context, struct ast_arena *arena, struct ast_text key, struct layout_found *found) {
    const struct opcode_tree *opcodes = context;
    if (opcodes->space) {
        int rc = opcodes->space->find(opcodes->space->context, arena, key, found);
        if (rc || found->kind != FOUND_NOTHING) return rc;
    }
    if (key.length <= 5 || memcmp(key.at, "/lib/", 5) != 0) return 0;
    const struct native_row *row = opcode_tree_row(opcodes, (struct ast_text){key.at + 5, key.length - 5});
    return row ? fill(row, arena, found) : 0;
}

/* Whether the space has the key too, and visits it. */
static bool space_has(const struct opcode_tree *opcodes, struct ast_text key) {
    struct ast_arena arena = {0};
    struct layout_found found = {0};
    bool has = opcodes->space && opcodes->space->each && !opcodes->space->find(opcodes->space->context, &arena, key, &found) && found.kind != FOUND_NOTHING;
    ast_arena_free(&arena);
    return has;
}

static int each(void *context, void (*visit)(void *visitor, struct ast_text key, uint8_t kind), void *visitor) {
    const struct opcode_tree *opcodes = context;
    for (uint32_t t = 0; t < opcodes->count; t++)
        for (uint32_t i = 0; i < opcodes->tables[t].count; i++) {
            char key[256] = "/lib/";
            size_t length = strlen(opcodes->tables[t].rows[i].name);
            if (length > sizeof key - 5) continue;
            memcpy(key + 5, opcodes->tables[t].rows[i].name, length);
            struct ast_text path = {key, (uint32_t)length + 5};
            if (!space_has(opcodes, path)) visit(visitor, path, FOUND_OPCODE);
        }
    return opcodes->space && opcodes->space->each ? opcodes->space->each(opcodes->space->context, visit, visitor) : 0;
}

void opcode_tree_start(struct opcode_tree *opcodes, const struct layout_tree *space) {
    *opcodes = (struct opcode_tree){.space = space, .tree = {.context = opcodes, .find = find, .each = each}};
    opcodes->tables[0].rows = native_table(&opcodes->tables[0].count);
    opcodes->tables[1] = (struct opcode_table){schedule_rows, schedule_count};
    opcodes->count = 2;
    for (uint32_t i = 0; i < family_count; i++) opcodes->tables[opcodes->count++] = (struct opcode_table){families[i].rows, *families[i].count};
}
