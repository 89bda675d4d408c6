/* The index of a document: made by parsing, checking and one walk (lsp_walk.c), then asked by the features.
 * Relies on lsp_index.h. Promise: questions cost a binary search or a hash, but for bodies and libs, which are few. */
#include "cli/lsp_index.h"

#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"
#include "layout/lower.h"
#include "layout/parse.h"

#define NO_TEXT ((struct ast_text){"", 0})

/* ---- names of bodies ---- */

static uint32_t hash_of(const struct lsp_body *body, struct ast_text name) {
    uint64_t hash = (uint64_t)(uintptr_t)body * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = 0; i < name.length; i++) hash = (hash ^ (unsigned char)name.at[i]) * UINT64_C(1099511628211);
    return (uint32_t)(hash >> 29);
}

struct lsp_local *lsp_index_local(const struct lsp_index *index, const struct lsp_body *body, struct ast_text name) {
    if (!index->table_room || !body) return NULL;
    struct lsp_local *local = index->table[hash_of(body, name) & (index->table_room - 1)];
    while (local && (local->body != body || !ast_text_equal(local->name, name))) local = local->chain;
    return local;
}

static bool widen(struct lsp_index *index) {
    uint32_t room = index->table_room ? index->table_room * 4 : 256;
    struct lsp_local **table = calloc(room, sizeof(struct lsp_local *));
    if (!table) return false;
    for (uint32_t i = 0; i < index->table_room; i++)
        for (struct lsp_local *local = index->table[i], *next; local; local = next) {
            struct lsp_local **place = &table[hash_of(local->body, local->name) & (room - 1)];
            next = local->chain;
            local->chain = *place;
            *place = local;
        }
    free(index->table);
    index->table = table;
    index->table_room = room;
    return true;
}

struct lsp_local *lsp_index_add_local(struct lsp_index *index, struct lsp_body *body, struct ast_text name, enum lsp_local_kind kind, uint32_t from, uint32_t to) {
    struct lsp_local *local = lsp_index_local(index, body, name);
    if (local) return local;
    if (index->local_count >= index->table_room && !widen(index)) index->out_of_memory = true;
    local = index->table_room ? ast_alloc(&index->arena, sizeof *local) : NULL;
    if (!local) {
        index->out_of_memory = true;
        return NULL;
    }
    *local = (struct lsp_local){.name = name, .body = body, .type = NO_TEXT, .from = from, .to = to, .kind = kind};
    struct lsp_local **place = &index->table[hash_of(body, name) & (index->table_room - 1)];
    local->chain = *place;
    *place = local;
    if (body->last) body->last->next = local;
    else body->locals = local;
    body->last = local;
    index->local_count++;
    return local;
}

/* ---- marks ---- */

void lsp_index_add_mark(struct lsp_index *index, struct lsp_mark mark) {
    if (index->mark_count == index->mark_room) {
        uint32_t room = index->mark_room ? index->mark_room * 2 : 256;
        struct lsp_mark *marks = realloc(index->marks, room * sizeof *marks);
        if (!marks) {
            index->out_of_memory = true;
            return;
        }
        index->marks = marks;
        index->mark_room = room;
    }
    mark.from += index->shift;
    mark.to += index->shift;
    index->marks[index->mark_count++] = mark;
}

static int compare_marks(const void *a, const void *b) {
    const struct lsp_mark *left = a, *right = b;
    return (left->from > right->from) - (left->from < right->from);
}

const struct lsp_mark *lsp_index_mark(const struct lsp_index *index, uint32_t offset) {
    uint32_t low = 0, high = index->mark_count;
    while (low < high) { /* the first mark behind offset */
        uint32_t middle = low + (high - low) / 2;
        if (index->marks[middle].from <= offset) low = middle + 1;
        else high = middle;
    }
    return low && index->marks[low - 1].to >= offset ? &index->marks[low - 1] : NULL;
}

/* ---- where an offset is ---- */

static const struct lsp_lib *lib_at(const struct lsp_index *index, uint32_t at) {
    const struct lsp_lib *best = NULL;
    for (const struct lsp_lib *lib = index->libs; lib; lib = lib->next)
        if (lib->from <= at && at <= lib->to && (!best || lib->from > best->from)) best = lib;
    return best;
}

struct ast_text lsp_index_package(const struct lsp_index *index, uint32_t offset) {
    const struct lsp_lib *lib = lib_at(index, offset < index->shift ? 0 : offset - index->shift);
    return lib ? lib->package : NO_TEXT;
}

struct lsp_body *lsp_index_body(const struct lsp_index *index, uint32_t offset) {
    uint32_t at = offset < index->shift ? 0 : offset - index->shift;
    struct ast_text package = lsp_index_package(index, offset);
    struct lsp_body *bare = NULL;
    for (struct lsp_body *body = index->bodies; body; body = body->next) {
        if (body->node && body->from <= at && at <= body->to) return body;
        if (!body->node && ast_text_equal(body->package, package)) bare = body;
    }
    return bare;
}

/* ---- types ---- */

struct symbol *lsp_index_struct(struct lsp_index *index, struct ast_text package, struct ast_text type) {
    uint32_t member_at = 0;
    if (type.length && (type.at[0] == '*' || type.at[0] == '@')) type = (struct ast_text){type.at + 1, type.length - 1};
    if (!type.length || type.at[0] == '/') return NULL;
    for (uint32_t i = 0; i < type.length; i++) {
        if (strchr("[]|*@,.?+ ", type.at[i])) return NULL;
        if (i + 1 < type.length && memcmp(type.at + i, "\xc2\xb7", 2) == 0) member_at = i + 2;
    }
    struct symbol *symbol = scope_struct(&index->scope, package, type, member_at);
    if (symbol) scope_type_params(&index->scope, symbol);
    return symbol;
}

struct ast_text lsp_index_field(struct lsp_index *index, struct symbol *structure, struct ast_text name) {
    scope_type_params(&index->scope, structure);
    for (uint32_t i = 0; i < structure->writes; i++)
        if (ast_text_equal(structure->params[i].name, name)) return structure->params[i].type ? structure->params[i].type->text : NO_TEXT;
    return NO_TEXT;
}

struct ast_text lsp_index_result(struct lsp_index *index, const struct lsp_body *body, const struct ast_node *node, uint32_t number, uint32_t count) {
    if (!node || !body || node->kind != AST_CALL) return NO_TEXT;
    struct symbol *symbol = scope_callee(&index->scope, body->package, node->as.call.callee, node->as.call.member_at);
    if (!symbol || symbol->writes != count) return NO_TEXT;
    scope_type_params(&index->scope, symbol);
    const struct type *type = number < symbol->writes ? symbol->params[symbol->reads + number].type : NULL;
    return type && !type->any ? type->text : NO_TEXT;
}

static struct ast_text guess_access(struct lsp_index *index, const struct lsp_body *body, const struct ast_node *node) {
    struct ast_text type = lsp_index_guess(index, body, node->as.access.base);
    for (uint32_t i = 0; i < node->as.access.count; i++) {
        struct symbol *structure = node->as.access.steps[i].kind == AST_STEP_MEMBER ? lsp_index_struct(index, body->package, type) : NULL;
        if (!structure) return NO_TEXT;
        type = lsp_index_field(index, structure, node->as.access.steps[i].name);
    }
    return type;
}

struct ast_text lsp_index_guess(struct lsp_index *index, const struct lsp_body *body, const struct ast_node *node) {
    if (!node || !body) return NO_TEXT;
    switch (node->kind) {
    case AST_BOOL: return ast_text_of("bool");
    case AST_INT: return ast_text_of(node->as.integer.is_unsigned ? "uint64" : "int64");
    case AST_FLOAT: return ast_text_of("float64");
    case AST_STRING: return ast_text_of("[]char/utf32");
    case AST_STRUCT_LITERAL: return node->as.struct_literal.name;
    case AST_CALL: return lsp_index_result(index, body, node, 0, 1);
    case AST_ACCESS: return guess_access(index, body, node);
    case AST_NAME: {
        struct lsp_local *local = lsp_index_local(index, body, node->as.name.text);
        return local && !local->variadic ? local->type : NO_TEXT;
    }
    case AST_CHAIN: {
        int level = ast_op_row((enum ast_op)node->as.chain.ops[0])->level;
        if (level <= 40) return ast_text_of("bool");
        struct ast_text first = lsp_index_guess(index, body, node->as.chain.operands[0]);
        for (uint32_t i = 1; i < node->as.chain.count; i++)
            if (!ast_text_equal(first, lsp_index_guess(index, body, node->as.chain.operands[i]))) return NO_TEXT;
        return first;
    }
    default: return NO_TEXT;
    }
}

/* ---- made and freed ---- */

bool lsp_index_make(struct lsp_index *index, const char *text, size_t length, const struct layout_tree *tree) {
    memset(index, 0, sizeof *index);
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) index->shift = 3;
    int rc = parse_file(&index->arena, &index->diags, NO_TEXT, text, length, &index->file);
    if (rc == PARSE_OK) {
        struct layout_unit unit;
        rc = lower_file(&index->arena, &index->diags, &index->file, tree, &unit);
    }
    if (rc == PARSE_NO_MEMORY || !scope_start(&index->scope, &index->arena, &index->unwanted, tree)) {
        lsp_index_free(index);
        return false;
    }
    scope_declare(&index->scope, &index->file);
    lsp_walk_file(index);
    if (index->mark_count) qsort(index->marks, index->mark_count, sizeof *index->marks, compare_marks);
    return true;
}

void lsp_index_free(struct lsp_index *index) {
    scope_end(&index->scope);
    diag_free(&index->diags);
    diag_free(&index->unwanted);
    ast_arena_free(&index->arena);
    free(index->marks);
    free(index->table);
    memset(index, 0, sizeof *index);
}
