/* One walk over the tree of a document, which finds every name, the bodies and what they write.
 * Relies on lsp_index.h. Where the tree has only canonical text (callees, types), the places of names are read from the
 * source again. Promise: a node that the parser gave up on is passed over; each place is visited once. */
#include <string.h>

#include "cli/lsp_index.h"
#include "layout/unicode.h"

#define NO_TEXT ((struct ast_text){"", 0})

struct walk {
    struct lsp_index *index;
    struct ast_text package;
    struct lsp_body *body;
};

static void visit(struct walk *walk, const struct ast_node *node);

/* ---- the source around a place ---- */

/* Bytes of the name character at an offset, 0 where there is none. */
static uint32_t name_bytes(struct ast_text source, uint32_t at) {
    uint32_t point;
    unsigned bytes = at < source.length ? unicode_decode(source.at + at, source.length - at, &point) : 0;
    return bytes && unicode_is_name(point) ? bytes : 0;
}

/* Behind the name at an offset; with its package and members where `qualified`. */
static uint32_t name_end(struct ast_text source, uint32_t at, bool qualified) {
    for (;;) {
        uint32_t bytes = name_bytes(source, at), joint = 0;
        if (bytes) {
            at += bytes;
            continue;
        }
        if (!qualified || at >= source.length) return at;
        if (source.at[at] == '/' || source.at[at] == '.') joint = 1;
        else if (at + 1 < source.length && memcmp(source.at + at, "\xc2\xb7", 2) == 0) joint = 2;
        if (!joint || !name_bytes(source, at + joint)) return at;
        at += joint;
    }
}

static struct lsp_mark mark_of(const struct walk *walk, enum lsp_mark_kind kind, uint32_t from, uint32_t to, struct ast_text name) {
    return (struct lsp_mark){.from = from, .to = to, .kind = kind, .name = name, .body = walk->body, .package = walk->package};
}

static void mark_name(struct walk *walk, uint32_t from, struct ast_text name) {
    lsp_index_add_mark(walk->index, mark_of(walk, LSP_MARK_NAME, from, from + name.length, name));
}

static void mark_head(struct walk *walk, struct ast_pos at, struct ast_text name, const struct ast_node *node) {
    struct lsp_mark mark = mark_of(walk, LSP_MARK_HEAD, at.offset, name_end(walk->index->file.source, at.offset, true), name);
    mark.node = node;
    if (at.line) lsp_index_add_mark(walk->index, mark);
}

static void mark_field(struct walk *walk, uint32_t from, uint32_t to, struct ast_text name, struct symbol *owner) {
    struct lsp_mark mark = mark_of(walk, LSP_MARK_FIELD, from, to, name);
    mark.owner = owner;
    if (owner) lsp_index_add_mark(walk->index, mark);
}

/* The names of structs in a type, found in the source: `[]char/utf8·pkg.Point`. */
static void mark_type(struct walk *walk, const struct ast_type *type) {
    struct ast_text source = walk->index->file.source;
    if (!type->text.length || !type->at.line) return;
    uint32_t at = type->at.offset, left = type->text.length, brackets = 0;
    while (at < source.length && left) {
        char byte = source.at[at];
        if (byte == '\n' || byte == '=' || byte == ')' || byte == '{' || byte == ';' || (byte == ',' && !brackets)) return;
        if (byte == '[') brackets++;
        if (byte == ']' && brackets) brackets--;
        uint32_t end = name_bytes(source, at) ? name_end(source, at, true) : at;
        if (end == at) {
            at++;
            continue;
        }
        struct ast_text name = {source.at + at, end - at};
        uint32_t member_at = 0;
        for (uint32_t i = 0; i < name.length; i++) {
            if (name.at[i] == '.') member_at = i + 1;
            if (i + 1 < name.length && memcmp(name.at + i, "\xc2\xb7", 2) == 0) {
                if (kind_from_name(name.at, i) != KIND_NONE) { /* the key of a map: what follows is its value */
                    name = (struct ast_text){name.at + i + 2, name.length - i - 2};
                    at += i + 2;
                    member_at = 0;
                    i = (uint32_t)-1;
                } else member_at = i + 2;
            }
        }
        struct lsp_mark mark = mark_of(walk, LSP_MARK_STRUCT, at, end, name);
        mark.member_at = member_at;
        if (name.length && kind_from_name(name.at, name.length) == KIND_NONE && !ast_text_is(name, "any")) lsp_index_add_mark(walk->index, mark);
        at = end;
    }
}

/* ---- expressions ---- */

static void visit_all(struct walk *walk, const struct ast_nodes *nodes) {
    for (uint32_t i = 0; i < nodes->count; i++) visit(walk, nodes->at[i]);
}

/* `vthread·spawn("worker")`: the text is the name of a function. */
static void mark_named(struct walk *walk, const struct ast_node *node) {
    const struct ast_node *first = node->as.call.args.count ? node->as.call.args.at[0] : NULL;
    struct ast_text callee = node->as.call.callee;
    bool names = ast_text_is(callee, "vthread\xc2\xb7spawn") || ast_text_is(callee, "vthread\xc2\xb7" "create") || ast_text_is(callee, "vthread\xc2\xb7" "call");
    if (!names || !first || first->kind != AST_STRING || first->as.string.raw.length != first->as.string.value.length + 2) return;
    struct lsp_mark mark = mark_of(walk, LSP_MARK_CALL, first->at.offset + 1, first->end - 1, first->as.string.value);
    for (uint32_t i = 0; i + 1 < mark.name.length; i++)
        if (memcmp(mark.name.at + i, "\xc2\xb7", 2) == 0) mark.member_at = i + 2;
    if (mark.name.length) lsp_index_add_mark(walk->index, mark);
}

static void visit_call(struct walk *walk, const struct ast_node *node) {
    struct ast_text source = walk->index->file.source;
    uint32_t end = node->at.offset;
    while (end < source.length && end < node->end && source.at[end] != '(') end++;
    while (end > node->at.offset && (source.at[end - 1] == ' ' || source.at[end - 1] == '\t')) end--;
    struct lsp_mark mark = mark_of(walk, LSP_MARK_CALL, node->at.offset, end, node->as.call.callee);
    mark.member_at = node->as.call.member_at;
    lsp_index_add_mark(walk->index, mark);
    mark_named(walk, node);
    visit_all(walk, &node->as.call.args);
}

static void visit_access(struct walk *walk, const struct ast_node *node) {
    visit(walk, node->as.access.base);
    struct ast_text type = lsp_index_guess(walk->index, walk->body, node->as.access.base);
    for (uint32_t i = 0; i < node->as.access.count; i++) {
        const struct ast_step *step = &node->as.access.steps[i];
        struct symbol *owner = step->kind == AST_STEP_MEMBER ? lsp_index_struct(walk->index, walk->package, type) : NULL;
        if (owner) mark_field(walk, step->at.offset, step->end, step->name, owner);
        type = owner ? lsp_index_field(walk->index, owner, step->name) : NO_TEXT;
        visit_all(walk, &step->args);
    }
}

static void visit_struct_literal(struct walk *walk, const struct ast_node *node) {
    uint32_t end = name_end(walk->index->file.source, node->at.offset, true);
    struct lsp_mark mark = mark_of(walk, LSP_MARK_STRUCT, node->at.offset, end, node->as.struct_literal.name);
    mark.member_at = node->as.struct_literal.member_at;
    lsp_index_add_mark(walk->index, mark);
    struct symbol *owner = lsp_index_struct(walk->index, walk->package, node->as.struct_literal.name);
    for (uint32_t i = 0; i < node->as.struct_literal.count; i++) {
        const struct ast_entry *entry = &node->as.struct_literal.entries[i];
        if (entry->key && entry->key->kind == AST_STRING) mark_field(walk, entry->key->at.offset, entry->key->end, entry->key->as.string.value, owner);
        visit(walk, entry->value);
    }
}

/* ---- statements ---- */

static void written(struct walk *walk, struct ast_text name, struct ast_pos at, enum lsp_local_kind kind, struct ast_text type, bool declared) {
    if (!name.length || ast_text_is(name, "_") || !walk->body) return;
    uint32_t shift = walk->index->shift;
    struct lsp_local *local = lsp_index_add_local(walk->index, walk->body, name, kind, at.offset + shift, at.offset + name.length + shift);
    if (!local || (local->declared && !declared)) return;
    if (declared || !local->type.length) local->type = type;
    local->declared |= declared;
}

static void visit_write(struct walk *walk, const struct ast_node *node) {
    uint32_t count = node->as.write.slots.count;
    visit(walk, node->as.write.value);
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_node *slot = node->as.write.slots.at[i];
        if (!slot) continue;
        if (slot->kind == AST_NAME) {
            const struct ast_type *type = node->as.write.types ? &node->as.write.types[i] : NULL;
            bool declared = type && type->text.length;
            struct ast_text guess = declared ? type->text
                                  : count == 1 ? lsp_index_guess(walk->index, walk->body, node->as.write.value)
                                               : lsp_index_result(walk->index, walk->body, node->as.write.value, i, count);
            written(walk, slot->as.name.text, slot->at, LSP_NAME, guess, declared);
            if (declared) mark_type(walk, type);
        } else if (slot->kind == AST_ACCESS && slot->as.access.base->kind == AST_NAME)
            written(walk, slot->as.access.base->as.name.text, slot->as.access.base->at, LSP_NAME, NO_TEXT, false);
        visit(walk, slot);
    }
}

static void visit_for(struct walk *walk, const struct ast_node *node) {
    const struct ast_node *walked = node->as.for_loop.walked;
    bool range = walked && walked->kind == AST_CALL && ast_text_is(walked->as.call.callee, "range");
    visit(walk, walked);
    written(walk, node->as.for_loop.key, node->as.for_loop.key_at, LSP_LOOP_NAME, NO_TEXT, false);
    written(walk, node->as.for_loop.value, node->as.for_loop.value_at, LSP_LOOP_NAME, range ? ast_text_of("int64") : NO_TEXT, false);
    if (node->as.for_loop.key.length) mark_name(walk, node->as.for_loop.key_at.offset, node->as.for_loop.key);
    if (node->as.for_loop.value.length) mark_name(walk, node->as.for_loop.value_at.offset, node->as.for_loop.value);
    visit_all(walk, &node->as.for_loop.block.body);
}

static void visit(struct walk *walk, const struct ast_node *node) {
    if (!node) return;
    switch (node->kind) {
    case AST_NAME: mark_name(walk, node->at.offset, node->as.name.text); break;
    case AST_ACCESS: visit_access(walk, node); break;
    case AST_CALL: visit_call(walk, node); break;
    case AST_PREFIX: visit(walk, node->as.prefix.operand); break;
    case AST_CHAIN:
        for (uint32_t i = 0; i < node->as.chain.count; i++) visit(walk, node->as.chain.operands[i]);
        break;
    case AST_ARRAY: visit_all(walk, &node->as.array.elements); break;
    case AST_FILL: visit(walk, node->as.fill.value); break;
    case AST_MAP:
        for (uint32_t i = 0; i < node->as.map.count; i++) visit(walk, node->as.map.entries[i].value);
        break;
    case AST_STRUCT_LITERAL: visit_struct_literal(walk, node); break;
    case AST_WRITE: visit_write(walk, node); break;
    case AST_RUN: visit(walk, node->as.run.value); break;
    case AST_IF:
        for (uint32_t i = 0; i < node->as.if_else.count; i++) {
            visit(walk, node->as.if_else.arms[i].condition);
            visit_all(walk, &node->as.if_else.arms[i].block.body);
        }
        break;
    case AST_WHILE:
        visit(walk, node->as.while_loop.condition);
        visit_all(walk, &node->as.while_loop.block.body);
        break;
    case AST_FOR: visit_for(walk, node); break;
    default: break;
    }
}

/* ---- declarations ---- */

static struct lsp_body *add_body(struct walk *walk, const struct ast_node *node) {
    struct lsp_body *body = ast_alloc(&walk->index->arena, sizeof *body);
    if (!body) {
        walk->index->out_of_memory = true;
        return NULL;
    }
    *body = (struct lsp_body){.next = walk->index->bodies, .node = node, .package = walk->package};
    if (node) {
        body->from = node->at.offset;
        body->to = node->end;
    }
    walk->index->bodies = body;
    return body;
}

static struct lsp_body *bare_body(struct walk *walk) {
    for (struct lsp_body *body = walk->index->bodies; body; body = body->next)
        if (!body->node && ast_text_equal(body->package, walk->package)) return body;
    return add_body(walk, NULL);
}

static void visit_params(struct walk *walk, const struct ast_params *params, enum lsp_local_kind kind) {
    for (uint32_t i = 0; i < params->count; i++) {
        const struct ast_param *param = &params->at[i];
        written(walk, param->name, param->at, kind, param->type.text, true);
        struct lsp_local *local = lsp_index_local(walk->index, walk->body, param->name);
        if (local) local->variadic = param->variadic;
        mark_name(walk, param->at.offset, param->name);
        mark_type(walk, &param->type);
    }
}

static void visit_function(struct walk *walk, const struct ast_node *node) {
    struct lsp_body *outer = walk->body;
    mark_head(walk, node->as.function.name_at, node->as.function.name, node);
    walk->body = add_body(walk, node);
    if (walk->body) {
        visit_params(walk, &node->as.function.reads, LSP_READ_PARAM);
        visit_params(walk, &node->as.function.writes, LSP_WRITE_PARAM);
        visit_all(walk, &node->as.function.block.body);
    }
    walk->body = outer;
}

static void visit_structure(struct walk *walk, const struct ast_node *node) {
    mark_head(walk, node->as.structure.name_at, node->as.structure.name, node);
    struct symbol *owner = scope_find(&walk->index->scope, scope_path(&walk->index->scope, walk->package, node->as.structure.name));
    for (uint32_t i = 0; i < node->as.structure.count; i++) {
        const struct ast_field *field = &node->as.structure.fields[i];
        if (owner && owner->kind == FOUND_STRUCT) mark_field(walk, field->at.offset, field->at.offset + field->name.length, field->name, owner);
        mark_type(walk, &field->type);
        visit(walk, field->value);
    }
}

static void visit_items(struct walk *walk, const struct ast_nodes *items);

static void visit_lib(struct walk *walk, const struct ast_node *node) {
    struct ast_text outer = walk->package, name = node->as.lib.name;
    mark_head(walk, node->as.lib.name_at, name, node);
    struct lsp_lib *lib = ast_alloc(&walk->index->arena, sizeof *lib);
    if (!lib) {
        walk->index->out_of_memory = true;
        return;
    }
    walk->package = outer.length ? scope_join(&walk->index->scope, outer, "/", name) : name;
    uint32_t end = node->as.lib.block.close.line ? node->as.lib.block.close.offset : node->end;
    *lib = (struct lsp_lib){walk->index->libs, walk->package, node->at.offset, end};
    walk->index->libs = lib;
    visit_items(walk, &node->as.lib.block.body);
    walk->package = outer;
}

static void visit_items(struct walk *walk, const struct ast_nodes *items) {
    for (uint32_t i = 0; i < items->count; i++) {
        const struct ast_node *node = items->at[i];
        if (!node) continue;
        switch (node->kind) {
        case AST_FUNCTION:
        case AST_RWIR: visit_function(walk, node); break;
        case AST_STRUCT: visit_structure(walk, node); break;
        case AST_LIB: visit_lib(walk, node); break;
        default:
            walk->body = bare_body(walk);
            if (walk->body) visit(walk, node);
            walk->body = NULL;
        }
    }
}

void lsp_walk_file(struct lsp_index *index) {
    struct walk walk = {.index = index, .package = NO_TEXT};
    visit_items(&walk, &index->file.items);
}
